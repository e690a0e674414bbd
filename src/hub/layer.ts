/**
 * A hub around another: what it does not say itself, the hub inside says.
 *
 * @module
 */
import type { HubLike, QualifiedName } from "./seam.ts";

/**
 * Hands every verb on to the hub inside. What wraps a hub (filters, approval, budgets) extends it and says what is different.
 *
 * @example A hub that counts its calls
 * ```ts
 * import { HubLayer } from "./layer.ts";
 *
 * class CountingHub extends HubLayer {
 *   calls = 0;
 *   override callTool(...given: Parameters<HubLayer["callTool"]>): ReturnType<HubLayer["callTool"]> {
 *     this.calls++;
 *     return super.callTool(...given);
 *   }
 * }
 * console.log(typeof CountingHub);
 * ```
 */
export class HubLayer implements HubLike {
  /** The hub inside. */
  protected readonly hub: HubLike;

  /**
   * Wraps a hub.
   *
   * @param hub The hub inside.
   */
  constructor(hub: HubLike) {
    this.hub = hub;
  }

  /** The tools of the hub inside. */
  tools(): ReturnType<HubLike["tools"]> {
    return this.hub.tools();
  }

  /** The resources of the hub inside. */
  resources(): ReturnType<HubLike["resources"]> {
    return this.hub.resources();
  }

  /** The templates of the hub inside. */
  templates(): ReturnType<HubLike["templates"]> {
    return this.hub.templates();
  }

  /** The prompts of the hub inside. */
  prompts(): ReturnType<HubLike["prompts"]> {
    return this.hub.prompts();
  }

  /** Finds a tool in the hub inside. */
  findTool(name: QualifiedName): ReturnType<HubLike["findTool"]> {
    return this.hub.findTool(name);
  }

  /** Calls a tool through the hub inside. */
  callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): ReturnType<HubLike["callTool"]> {
    return this.hub.callTool(name, args, options);
  }

  /** Reads a resource through the hub inside. */
  readResource(...given: Parameters<HubLike["readResource"]>): ReturnType<HubLike["readResource"]> {
    return this.hub.readResource(...given);
  }

  /** Fills in a prompt through the hub inside. */
  getPrompt(...given: Parameters<HubLike["getPrompt"]>): ReturnType<HubLike["getPrompt"]> {
    return this.hub.getPrompt(...given);
  }

  /** Completes an argument through the hub inside. */
  complete(...given: Parameters<HubLike["complete"]>): ReturnType<HubLike["complete"]> {
    return this.hub.complete(...given);
  }

  /** How the servers of the hub inside do. */
  status(): ReturnType<HubLike["status"]> {
    return this.hub.status();
  }

  /** What happens in the hub inside. */
  events(...given: Parameters<HubLike["events"]>): ReturnType<HubLike["events"]> {
    return this.hub.events(...given);
  }

  /** The catalog of the hub inside. */
  catalog(): ReturnType<HubLike["catalog"]> {
    return this.hub.catalog();
  }

  /** Has the hub inside connect a server now, where it can. */
  async retry(server: string): Promise<void> {
    await this.hub.retry?.(server);
  }
}
