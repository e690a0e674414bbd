/**
 * What is known of a server's tools, and which of their arguments are mirrored as headers.
 *
 * @module
 */
import type { FoundRules, HeaderRule } from "../protocol/headers.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import { checkResult } from "../protocol/shapes/core.ts";
import type { Change, ListToolsResult, Tool } from "../protocol/types.ts";
import type { ClientRequest, RequestOptions } from "./session/request.ts";

/** Mirrors arguments of tools as headers (specification 2026-07-28: Streamable HTTP, Schema Extension). */
export interface MirrorFeature {
  /**
   * Reads the `x-mcp-header` annotations of an input schema.
   *
   * @internal
   */
  rules(inputSchema: unknown): FoundRules;
  /**
   * The headers for a call's arguments.
   *
   * @internal
   */
  headers(rules: readonly HeaderRule[], args: unknown, limits: Limits): Record<string, string>;
  /**
   * Lists the tools anew, where an error says that their headers were made by old definitions; else undefined.
   *
   * @param rest The milliseconds that are left.
   * @internal
   */
  renewed(error: unknown, request: ClientRequest, rest: number, client: Listed): Promise<unknown> | undefined;
}

/** Whose tools they are. */
interface Listed {
  changed(change: Change): void;
  listTools(options: RequestOptions): Promise<unknown>;
}

/** A tool as it was listed, and which of its arguments are mirrored. */
export interface KnownTool {
  readonly tool: Tool;
  readonly rules: readonly HeaderRule[];
}

const noRules: FoundRules = { rules: [] };

/** The tools of one server, as they were listed last. */
export class Tools {
  /** What mirrors arguments, where that feature is there. */
  readonly mirror: MirrorFeature | undefined;
  /** The tools by name; nothing that is written as JSON. */
  known: Map<string, KnownTool> = new Map();

  constructor(mirror: MirrorFeature | undefined) {
    this.mirror = mirror;
  }

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
      const reason = this.#reject(tool, mirrored, seen);
      if (reason) rejected.push({ name: String(tool?.name), reason });
      return !reason;
    });
    return rejected.length > 0 ? { ...result, tools, rejected } : result;
  }

  /** Why a tool is left out of the list; undefined when it is taken in. */
  #reject(tool: Tool, mirrored: boolean, seen: Set<string>): string | undefined {
    const wrong = isObject(tool) ? checkResult("tool", tool) : "it is no object";
    if (wrong) return wrong;
    const { name, inputSchema } = tool;
    if (seen.has(name)) return "its name stands twice";
    const { rules, invalid } = mirrored && this.mirror?.rules(inputSchema) || noRules;
    if (invalid) return invalid;
    seen.add(name);
    this.known.set(name, { tool, rules });
    return undefined;
  }

  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(call: JsonObject, limits: Limits): Record<string, string> | undefined {
    const rules = this.known.get(call.name as string)?.rules;
    return rules?.length ? this.mirror?.headers(rules, call.arguments, limits) : undefined;
  }
}

/** The definitions, as plain JSON. */
export function allTools({ known }: Tools): Tool[] {
  return [...known.values()].map(({ tool }) => tool);
}

/** A tool as it was listed; undefined when it is not known. */
export function toolOf({ known }: Tools, name: unknown): Tool | undefined {
  return known.get(name as string)?.tool;
}
