/**
 * A hub as one principal may use it: what may not be used is as if it were not there.
 *
 * @module
 */
import { resultsUri } from "../../hub/budget/result_resource.ts";
import { findPrompt } from "../../hub/catalog/prompts.ts";
import { failedResult } from "../../hub/failure.ts";
import type { GatewayHub } from "../../hub/gateway/options.ts";
import { HubLayer } from "../../hub/layer.ts";
import { climbs } from "../../hub/pins/climbs.ts";
import type { Catalog, CatalogTool, HubEvent, HubLike, QualifiedName } from "../../hub/seam.ts";
import { InvalidParamsError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import type { Judge } from "./access.ts";
import type { Can, Effect } from "./types.ts";

/** A hub with what its principal may do. */
export interface ScopedHub extends GatewayHub {
  /** What a principal may do with a tool: `call` of whoever calls it, `run` of an agent. */
  effectOf(tool: CatalogTool): Effect;
  /** Whether a resource or prompt may be read, by its URI or name at its server. */
  mayRead(server: string, name: string): boolean;
  /** Whether a resource may be watched, by its URI at its server: what may not be read may not. */
  mayWatch(server: string, uri: string): boolean;
  /** Opens the policy anew: lists are by what it said last. */
  renew(): Promise<void>;
}

/**
 * Wraps a hub for one principal. Each call, reading and completion opens the policy first and is written down; lists show
 * what the policy allowed when it was opened last. Tools that want an approval are listed, and calling them here says how to get one.
 *
 * @param action What a tool call is: `call`, or `run` for the hub of an agent.
 */
export async function scopeHub(hub: HubLike, judge: Judge, action: "call" | "run" = "call"): Promise<ScopedHub> {
  return new Scoped(hub, judge, action, await judge.open());
}

/** As {@linkcode scopeHub}, for one request: it is judged by one state of the rules. */
export function scopeHubOnce(hub: HubLike, judge: Judge, can: Can): ScopedHub {
  return new ScopedOnce(hub, judge, "call", can);
}

class Scoped extends HubLayer implements ScopedHub {
  readonly #judge: Judge;
  readonly #action: "call" | "run";
  #can: Can;
  #shown:
    | { readonly all: readonly CatalogTool[]; readonly can: Can; readonly tools: readonly CatalogTool[] }
    | undefined;

  constructor(hub: HubLike, judge: Judge, action: "call" | "run", can: Can) {
    super(hub);
    this.#judge = judge;
    this.#action = action;
    this.#can = can;
  }

  async renew(): Promise<void> {
    this.#can = await this.#judge.open();
  }

  effectOf({ server, name }: CatalogTool): Effect {
    return this.#can(server, name, this.#action);
  }

  mayRead(server: string, name: string): boolean {
    return this.#can(server, name, "read") === "allow";
  }

  mayWatch(server: string, uri: string): boolean {
    return this.mayRead(server, uri) && !climbs(uri);
  }

  override tools(): readonly CatalogTool[] {
    const all = this.hub.tools();
    if (this.#shown?.all !== all || this.#shown.can !== this.#can) {
      const tools = all.filter((tool) => this.effectOf(tool) !== "deny");
      this.#shown = { all, can: this.#can, tools };
    }
    return this.#shown.tools;
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    const found = this.hub.findTool(name);
    return found && this.effectOf(found) !== "deny" ? found : undefined;
  }

  override resources(): ReturnType<HubLike["resources"]> {
    return this.hub.resources().filter(({ server, resource }) => this.mayRead(server, resource.uri));
  }

  override templates(): ReturnType<HubLike["templates"]> {
    return this.hub.templates().filter(({ server, template }) => this.mayRead(server, template.uriTemplate));
  }

  override prompts(): ReturnType<HubLike["prompts"]> {
    return this.hub.prompts().filter(({ server, name }) => this.mayRead(server, name));
  }

  override async callTool(...[name, args, options]: Parameters<HubLike["callTool"]>): Promise<CallToolResult> {
    await this.renew();
    const known = this.hub.findTool(name);
    const outcome = known ? this.effectOf(known) : "deny";
    if (known) {
      const { server, name: tool } = known;
      await this.#judge.record({ server, tool, action: this.#action, outcome, arguments: (args ?? {}) as JsonObject });
    }
    const shown = typeof name === "string" ? name : `${name.server}.${name.name}`;
    if (!known || outcome === "deny") {
      return failedResult(hidden(`There is no tool "${shown}"`), undefined);
    }
    if (outcome === "ask") {
      const text =
        `Calling "${shown}" wants the approval of a person: call it by POST /api/tools/${known.qualifiedName}`;
      return { content: [{ type: "text", text }], isError: true };
    }
    return await this.hub.callTool({ server: known.server, name: known.name }, args, options);
  }

  override async readResource(...[name, options]: Parameters<HubLike["readResource"]>): ReturnType<
    HubLike["readResource"]
  > {
    await this.renew();
    const uri = typeof name === "string" ? name : name.uri;
    const listed = this.hub.resources().filter(({ resource }) => resource.uri === uri).map(({ server }) => server);
    // What a result budget inside has kept is no server's: whoever knows its name was told it with a result of theirs.
    if (uri.startsWith(resultsUri) && !listed.length) {
      await this.#record("", uri, "allow");
      return await this.hub.readResource({ server: "", uri }, options).catch((error: unknown) => {
        throw error instanceof InvalidParamsError ? hidden(`There is no resource "${uri}"`) : error;
      });
    }
    const owners = typeof name === "object" ? [name.server] : listed;
    const [server, second] = owners.filter((owner) => this.mayRead(owner, uri));
    if (server === undefined || second !== undefined || climbs(uri)) {
      if (owners[0] !== undefined) await this.#record(owners[0], uri, "deny");
      throw hidden(second === undefined ? `There is no resource "${uri}"` : `Name the server of "${uri}"`);
    }
    await this.#record(server, uri, "allow");
    return await this.hub.readResource({ server, uri }, options);
  }

  override async getPrompt(...[name, args, options]: Parameters<HubLike["getPrompt"]>): ReturnType<
    HubLike["getPrompt"]
  > {
    await this.renew();
    const found = await this.#prompt(name);
    return await this.hub.getPrompt(found, args, options);
  }

  override async complete(
    ...[reference, argument, options]: Parameters<HubLike["complete"]>
  ): ReturnType<HubLike["complete"]> {
    await this.renew();
    if (reference.type === "ref/prompt") {
      const name = await this.#prompt(reference.name);
      return await this.hub.complete({ type: "ref/prompt", name }, argument, options);
    }
    const { server, uri } = reference;
    const isAllowed = this.mayRead(server, uri);
    await this.#record(server, uri, isAllowed ? "allow" : "deny");
    if (!isAllowed) throw hidden(`There is no resource "${uri}"`);
    return await this.hub.complete(reference, argument, options);
  }

  override status(): ReturnType<HubLike["status"]> {
    return this.hub.status().filter(({ name }) => this.#sees(name))
      .map(({ authorizationUrl: _, ...status }) => status);
  }

  override events(...[options]: Parameters<HubLike["events"]>): AsyncIterable<HubEvent> {
    const events = this.hub.events(options);
    const isShown = (event: HubEvent): boolean => this.#shows(event);
    return (async function* (): AsyncGenerator<HubEvent> {
      for await (const event of events) if (isShown(event)) yield event;
    })();
  }

  override catalog(): Catalog {
    const { servers, ...rest } = this.hub.catalog();
    return {
      ...rest,
      servers: servers.filter(({ name }) => this.#sees(name)).map(({ snapshot: _, ...server }) => ({
        ...server,
        tools: server.tools.filter(({ name }) => this.#can(server.name, name, this.#action) !== "deny"),
        prompts: server.prompts.filter(({ name }) => this.mayRead(server.name, name)),
        resources: server.resources.filter(({ uri }) => this.mayRead(server.name, uri)),
        templates: server.templates.filter(({ uriTemplate }) => this.mayRead(server.name, uriTemplate)),
      })),
    };
  }

  /** Where a person signs in is told by `connect` alone, and logs of a server are for who looks after it. */
  #shows(event: HubEvent): boolean {
    if (event.type === "authorization") return false;
    if (event.type === "resource") return this.mayRead(event.server, event.uri);
    if (event.type === "log") return this.#can(event.server, "", "manage") === "allow";
    // Whose lists have changed is told to all: what one may use may be of a server that one may not see.
    return event.type === "catalog" || event.type === "added" || event.type === "removed" || this.#sees(event.server);
  }

  #sees(server: string): boolean {
    return this.#can(server, "", "see") !== "deny";
  }

  async #prompt(name: QualifiedName): Promise<{ readonly server: string; readonly name: string }> {
    const found = findPrompt(this.hub.prompts(), name);
    const isAllowed = found && this.mayRead(found.server, found.name);
    if (found) await this.#record(found.server, found.name, isAllowed ? "allow" : "deny");
    if (found && isAllowed) return { server: found.server, name: found.name };
    throw hidden(`There is no prompt "${typeof name === "string" ? name : `${name.server}.${name.name}`}"`);
  }

  #record(server: string, tool: string, outcome: Effect): Promise<void> {
    return this.#judge.record({ server, tool, action: "read", outcome });
  }
}

class ScopedOnce extends Scoped {
  override renew(): Promise<void> {
    return Promise.resolve();
  }
}

/** What may not be used is answered like what is not there. */
function hidden(message: string): InvalidParamsError {
  const error = new InvalidParamsError(message, { rpcCode: -32602 });
  // The class stands for answers of servers; here none was asked.
  error.delivery = "not-sent";
  return error;
}
