/**
 * What is known of the servers behind, beside what they list.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import { metaPrefix } from "../../../protocol/modern.ts";
import type { Tool } from "../../../protocol/types.ts";
import type { CatalogServer, CatalogTool, HubLike } from "../../seam.ts";

/** How a tool becomes a task at its server: `asked` when the call says so, `offered` when the server wants it. */
export type TaskManner = { readonly by: "asked"; readonly isRequired: boolean } | { readonly by: "offered" };

const extension = metaPrefix + "tasks";

/** The servers of a hub, read anew when what they list has changed. */
export class Servers {
  readonly #hub: HubLike;
  #of: unknown;
  #servers: ReadonlyMap<string, CatalogServer> = new Map();

  constructor(hub: HubLike) {
    this.#hub = hub;
  }

  /** How a tool can be a task; undefined when it cannot. */
  taskManner({ server, tool }: CatalogTool): TaskManner | undefined {
    const { capabilities } = this.#find(server) ?? {};
    if (isObject(capabilities?.extensions) && isObject(capabilities.extensions[extension])) return { by: "offered" };
    const support = supportOf(tool);
    if (!capabilities?.tasks?.requests?.tools?.call || (support !== "optional" && support !== "required")) {
      return undefined;
    }
    return { by: "asked", isRequired: support === "required" };
  }

  /**
   * Whether what a server asks does not come with the call that it belongs to: in the older era, on anything but Streamable
   * HTTP. So it is taken to be as long as it is not known.
   */
  isVague(server: string): boolean {
    let snapshot = this.#find(server)?.snapshot;
    if (!snapshot) {
      this.#of = undefined;
      snapshot = this.#find(server)?.snapshot;
    }
    const { target = "", verdict } = snapshot ?? {};
    if (verdict?.era === "modern") return false;
    return verdict?.binding === "http+sse" || !/^https?:/.test(target);
  }

  #find(server: string): CatalogServer | undefined {
    const of = this.#hub.tools();
    if (this.#of !== of) {
      this.#of = of;
      this.#servers = new Map(this.#hub.catalog().servers.map((known) => [known.name, known]));
    }
    return this.#servers.get(server);
  }
}

function supportOf({ execution }: Tool & { readonly execution?: unknown }): unknown {
  return isObject(execution) ? execution.taskSupport : undefined;
}
