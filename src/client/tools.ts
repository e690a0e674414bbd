/**
 * Tools as a server lists them, and the seam to what mirrors their arguments as headers.
 *
 * @module
 */
import type { EncodeHeader } from "../protocol/headers.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { CoreLimits, CoreTimeouts } from "../protocol/limits.ts";
import type { Era } from "../protocol/revisions.ts";
import { checkTool } from "../protocol/shapes/tool.ts";
import type { Change, ListResult, ListToolsResult, Tool } from "../protocol/types.ts";
import type { ClientRequest, RequestOptions } from "./session/request.ts";
import type { Clock, Logger } from "../ports.ts";
import type { Transport } from "../transport/transport.ts";

/** Whose tools they are. */
export interface ToolOwner {
  /** Is told of what is out of date. */
  changed?(change: Change): void;
  /** Lists the tools anew. */
  listTools(options: RequestOptions): Promise<unknown>;
}

/** Options of a list. */
export interface ListOptions extends RequestOptions {
  /** Gives one raw page: the one that this cursor names; `null` is the first. Without it all pages are gathered. */
  cursor?: string | null | undefined;
}

/** What lists are made with. */
export interface ToolParts {
  readonly clock: Clock;
  readonly limits: CoreLimits;
  readonly timeouts: CoreTimeouts;
  readonly transport: Transport;
  readonly mirror: Mirror | undefined;
  /** Where it is told what was left out. */
  readonly inputs?: { readonly logger: Logger | undefined } | undefined;
  /** Whose tools they are: the era that is spoken, and requests that only read. */
  client(): {
    readonly era: Era | undefined;
    read(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  };
}

/**
 * Lists the tools of one client.
 *
 * @internal
 */
export type ListFeature = (parts: ToolParts, options: ListOptions) => Promise<ListToolsResult>;

/**
 * Mirrors arguments of one client's tools as headers (specification 2026-07-28: Streamable HTTP, Schema Extension).
 *
 * @internal
 */
export interface Mirror {
  /** Writes any text as it stands in a header. */
  readonly encode: EncodeHeader;
  /** Takes a tool in; says why it must not be used, when its `x-mcp-header` breaks the rules. */
  learn(tool: Tool): string | undefined;
  /** Forgets all tools: they are listed anew. */
  forget(): void;
  /** What has to see the texts that a request brings back; undefined when nothing has to. */
  reads(method: string): ((text: string) => void) | undefined;
  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(call: JsonObject, limits: CoreLimits): Record<string, string> | undefined;
  /**
   * Lists the tools anew, where an error says that their headers were made by old definitions; else undefined.
   *
   * @param rest The milliseconds that are left.
   */
  renewed(error: unknown, request: ClientRequest, rest: number, owner: ToolOwner): Promise<unknown> | undefined;
}

/**
 * Makes the mirror of one client.
 *
 * @internal
 */
export type MirrorFeature = () => Mirror;

/**
 * Takes a list in: doubled names, what is no tool, and what the mirror has something against are moved from `tools` to
 * `rejected`.
 *
 * @param whole Whether these are all of them: then what was known before is forgotten.
 * @param era What is spoken, where that is not the open session's.
 */
export function takeTools(
  result: ListToolsResult,
  { mirror, transport, client, inputs }: Pick<ToolParts, "client" | "inputs" | "mirror" | "transport">,
  whole: boolean,
  era: Era | undefined = client().era,
): ListToolsResult {
  const used = era === "modern" && transport.kind === "http" ? mirror : undefined;
  if (whole) used?.forget();
  const seen = new Set<string>();
  return sift<Tool, ListToolsResult>(result, "tools", inputs?.logger, (tool) => {
    const reason = (isObject(tool) ? checkTool(tool) : "it is no object") ??
      (seen.has(tool.name) ? "its name stands twice" : used?.learn(tool));
    return reason ?? void seen.add(tool.name);
  });
}

/**
 * Moves what is no item of a list to `rejected`, and tells of it.
 *
 * @param key Where the items are.
 * @param judge Says what is wrong with one.
 */
export function sift<Item extends { name?: unknown; uri?: unknown }, Result extends ListResult>(
  result: Result,
  key: string,
  logger: Logger | undefined,
  judge: (item: Item) => string | undefined,
): Result {
  const rejected: { name: string; reason: string }[] = [];
  const kept = (result as Result & Record<string, Item[]>)[key]!.filter((item) => {
    const reason = judge(item);
    if (!reason) return true;
    const name = item?.name || item?.uri;
    const fields = { name: typeof name === "string" ? name : "", reason };
    logger?.({ level: "warning", message: `Dropped from ${key}`, fields });
    return !rejected.push(fields);
  });
  return rejected[0] ? { ...result, [key]: kept, rejected } : result;
}
