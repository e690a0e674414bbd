/**
 * Tools as a server lists them, and the seam to what mirrors their arguments as headers.
 *
 * @module
 */
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import { checkResult } from "../protocol/shapes/core.ts";
import type { Change, ListToolsResult, Tool } from "../protocol/types.ts";
import type { ClientRequest, RequestOptions } from "./session/request.ts";

/** Whose tools they are. */
export interface ToolOwner {
  /** Is told of what is out of date. */
  changed(change: Change): void;
  /** Lists the tools anew. */
  listTools(options: RequestOptions): Promise<unknown>;
}

/** Mirrors arguments of one client's tools as headers (specification 2026-07-28: Streamable HTTP, Schema Extension). */
export interface Mirror {
  /** Takes a tool in; says why it must not be used, when its `x-mcp-header` breaks the rules. */
  learn(tool: Tool): string | undefined;
  /** Forgets all tools: they are listed anew. */
  forget(): void;
  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(call: JsonObject, limits: Limits): Record<string, string> | undefined;
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
 * Takes a list in: doubled names and what `judge` has something against are moved from `tools` to `rejected`.
 *
 * @param judge Says why a tool must not be used.
 */
export function takeTools(result: ListToolsResult, judge: (tool: Tool) => string | undefined): ListToolsResult {
  const rejected: { name: string; reason: string }[] = [];
  const seen = new Set<string>();
  const tools = result.tools.filter((tool) => {
    const reason = (isObject(tool) ? checkResult("tool", tool) : "it is no object") ??
      (seen.has(tool.name) ? "its name stands twice" : judge(tool));
    if (reason) rejected.push({ name: String(tool?.name), reason });
    else seen.add(tool.name);
    return !reason;
  });
  return rejected.length > 0 ? { ...result, tools, rejected } : result;
}
