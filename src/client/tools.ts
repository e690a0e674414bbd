/**
 * What is known of a server's tools, and which of their arguments are mirrored as headers.
 *
 * @module
 */
import { parameterHeaders, readHeaderRules } from "../protocol/headers.ts";
import type { FoundRules, HeaderRule } from "../protocol/headers.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import type { ListToolsResult, Tool } from "../protocol/types.ts";

/** A tool as it was listed, and the headers that mirror its arguments. */
export interface KnownTool {
  readonly tool: Tool;
  readonly rules: HeaderRule[];
}

/** The tools of one server, as they were listed last. */
export class Tools {
  /** By name. */
  known: Map<string, KnownTool> = new Map();

  /**
   * Takes a list in: doubled names and, where arguments are `mirrored`, tools whose `x-mcp-header` breaks the rules are
   * moved from `tools` to `rejected` (specification 2026-07-28: Streamable HTTP, Schema Extension).
   *
   * @param whole Whether this is the whole list: then what was known before is forgotten.
   */
  take(result: ListToolsResult, mirrored: boolean, whole: boolean): ListToolsResult {
    if (whole) this.known = new Map();
    const rejected: { name: string; reason: string }[] = [];
    const seen = new Set<string>();
    const tools = result.tools.filter((tool) => {
      const { name } = tool;
      const { rules, invalid } = (mirrored ? readHeaderRules(tool.inputSchema) : { rules: [] }) as FoundRules;
      const reason = seen.has(name) ? "its name stands twice" : invalid;
      if (reason) return void rejected.push({ name, reason });
      seen.add(name);
      this.known.set(name, { tool, rules });
      return true;
    });
    return rejected.length > 0 ? { ...result, tools, rejected } : result;
  }

  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(call: JsonObject, limits: Limits): Record<string, string> | undefined {
    const rules = this.known.get(call.name as string)?.rules;
    return rules?.length ? parameterHeaders(rules, call.arguments, limits) : undefined;
  }
}
