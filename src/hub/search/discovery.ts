/**
 * Progressive discovery: a model that would get hundreds of tools gets three, with which it finds and calls the others.
 *
 * @module
 */
import { HubLayer } from "../layer.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import type { CatalogTool, HubLike, QualifiedName } from "../seam.ts";
import {
  describeTool,
  discoveryNames,
  discoveryTools,
  failure,
  mostFound,
  resultOf,
  summarize,
} from "./discovery_tools.ts";
import { createToolSearch, type ToolSearch } from "./tool_search.ts";

/** Options of {@linkcode createDiscoveryTools}. */
export interface DiscoveryOptions {
  /** With more tools than this the three stand for all (40). 0: always; `Infinity`: never. */
  readonly threshold?: number | undefined;
  /** How many tools a search gives where the model names no number (10, at most 50). */
  readonly limit?: number | undefined;
  /**
   * Which tools there are for the model: one for which it says false is not listed, found, described or called, and with a filter
   * neither is one that the hub does not list.
   */
  readonly filter?: ((tool: CatalogTool) => boolean) | undefined;
}

/**
 * Wraps a hub: above a threshold its tools are `search_tools`, `describe_tool` and `call_tool`, below it those of the servers.
 * What it gives is a hub itself, so that adapters for models take it. A tool can be called by its own name either way. What the hub
 * inside has itself, such as `read_result`, stays beside the three and does not count.
 *
 * @param hub Its `callTool` makes the calls, with the options that they come with. What it hides stays hidden.
 * @throws {RangeError} When an option is no number of its kind.
 *
 * @example Three tools instead of all
 * ```ts
 * import { createDiscoveryTools } from "@causeway/mcp/hub";
 * import type { HubLike } from "@causeway/mcp/hub";
 *
 * function forModel(hub: HubLike) {
 *   const discovery = createDiscoveryTools(hub, { threshold: 40 });
 *   return discovery.tools().map(({ qualifiedName, tool }) => ({ name: qualifiedName, parameters: tool.inputSchema }));
 * }
 * console.log(typeof forModel);
 * ```
 */
export function createDiscoveryTools(hub: HubLike, options: DiscoveryOptions = {}): HubLike {
  return new DiscoveryHub(hub, options);
}

class DiscoveryHub extends HubLayer {
  readonly #threshold: number;
  readonly #limit: number;
  readonly #filter: (tool: CatalogTool) => boolean;
  readonly #isFiltered: boolean;
  readonly #search: ToolSearch;
  #made: { readonly key: string; readonly tools: readonly CatalogTool[] } | undefined;

  constructor(hub: HubLike, { threshold = 40, limit = 10, filter }: DiscoveryOptions) {
    super(hub);
    if (!(threshold >= 0)) {
      throw new RangeError(`Cannot use the threshold ${threshold}: expected a number of tools, 0 or more`);
    }
    if (!isLimit(limit)) {
      throw new RangeError(`Cannot use the limit ${limit}: expected a whole number from 1 to ${mostFound}`);
    }
    this.#threshold = threshold;
    this.#limit = limit;
    this.#filter = filter ?? (() => true);
    this.#isFiltered = filter !== undefined;
    this.#search = createToolSearch(hub);
  }

  override tools(): readonly CatalogTool[] {
    const shown = this.#shown();
    return shown.filter(isOfServer).length > this.#threshold ? this.#own(shown) : shown;
  }

  override findTool(name: QualifiedName): CatalogTool | undefined {
    const own = ownName(name);
    if (own) return this.#own(this.#shown()).find((tool) => tool.name === own);
    const found = this.hub.findTool(name);
    return found && this.#filter(found) ? found : undefined;
  }

  override async callTool(
    name: QualifiedName,
    args: JsonObject = {},
    options?: RequestOptions,
  ): Promise<CallToolResult> {
    options?.signal?.throwIfAborted();
    switch (ownName(name)) {
      case discoveryNames.search:
        return this.#searchTools(args);
      case discoveryNames.describe: {
        const tool = this.#visible(args.name);
        return tool ? resultOf(describeTool(tool)) : this.#unknown(args.name);
      }
      case discoveryNames.call:
        return await this.#callTool(args, options);
    }
    // A hub may leave a tool that it does not list to the server: nobody could have looked at that.
    if (this.#isFiltered && !this.findTool(name)) return this.#unknown(typeof name === "string" ? name : name.name);
    return await this.hub.callTool(name, args, options);
  }

  #shown(): CatalogTool[] {
    return this.hub.tools().filter(this.#filter);
  }

  /** The three, made anew when other servers have tools: what a model was told before stays the same text. */
  #own(shown: readonly CatalogTool[]): readonly CatalogTool[] {
    const servers = [...new Set(shown.filter(isOfServer).map(({ server }) => server))];
    // Results name what the hub inside has itself: a model has to have it.
    const beside = shown.filter((tool) => !isOfServer(tool) && !ownName(tool));
    const key = JSON.stringify([servers, beside.map(({ name }) => name)]);
    if (this.#made?.key !== key) this.#made = { key, tools: [...discoveryTools(servers, this.#limit), ...beside] };
    return this.#made.tools;
  }

  #searchTools({ query, server, limit = this.#limit }: JsonObject): CallToolResult {
    if (typeof query !== "string" || query.trim() === "") return failure('"query" is missing: expected a few words');
    if (typeof limit !== "number" || !(limit >= 1)) return failure(`"limit" is not a number from 1 to ${mostFound}`);
    if (server !== undefined && typeof server !== "string") return failure('"server" is not a text');
    const most = Math.min(Math.trunc(limit), mostFound);
    const filter = (tool: CatalogTool): boolean => isOfServer(tool) && this.#filter(tool);
    const found = this.#search.search(query, { limit: most, server, filter });
    const tools = found.map(({ tool }) => summarize(tool));
    if (tools.length > 0) return resultOf({ tools });
    const servers = [...new Set(this.#shown().map((tool) => tool.server))];
    const isKnown = server === undefined || servers.includes(server);
    const hint = isKnown ? "Nothing fits: try other words" : `No server with tools is called ${JSON.stringify(server)}`;
    return resultOf({ tools, hint });
  }

  async #callTool({ name, arguments: args = {} }: JsonObject, options?: RequestOptions): Promise<CallToolResult> {
    const tool = this.#visible(name);
    if (!tool) return this.#unknown(name);
    if (!isJsonObject(args)) return failure('"arguments" is not an object: expected what the schema of the tool says');
    return await this.hub.callTool({ server: tool.server, name: tool.name }, args, options);
  }

  /** A tool as the hub lists it: one that it finds and does not list is hidden. */
  #visible(name: unknown): CatalogTool | undefined {
    const found = typeof name === "string" ? this.hub.findTool(name) : undefined;
    return found && this.#shown().find(({ qualifiedName }) => qualifiedName === found.qualifiedName);
  }

  #unknown(name: unknown): CallToolResult {
    if (typeof name !== "string") return failure('"name" is missing: expected the name of a tool');
    const alike = this.#search.search(name, { limit: 3, filter: this.#filter }).map(({ tool }) => tool.qualifiedName);
    const hint = alike.length > 0 ? `did you mean ${alike.join(", ")}?` : `look for one with ${discoveryNames.search}`;
    return failure(`No tool is called ${JSON.stringify(name.slice(0, 200))}: ${hint}`);
  }
}

/** The name of one of the three, where that is what is meant. */
function ownName(name: QualifiedName): string | undefined {
  const text = typeof name === "string" ? name : name.server === "" ? name.name : undefined;
  return Object.values(discoveryNames).find((own) => own === text);
}

/** Whether it is no tool of a hub itself, such as `read_result`. */
function isOfServer({ server }: CatalogTool): boolean {
  return server !== "";
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function isLimit(limit: number): boolean {
  return Number.isInteger(limit) && limit >= 1 && limit <= mostFound;
}
