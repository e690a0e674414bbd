/**
 * What is known of a server's tools: which arguments are mirrored as headers, and what their results look like.
 *
 * @module
 */
import { ProtocolViolationError } from "../protocol/errors.ts";
import type { McpErrorOptions } from "../protocol/errors.ts";
import { parameterHeaders, readHeaderRules } from "../protocol/headers.ts";
import type { HeaderRule } from "../protocol/headers.ts";
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
import { checkResult } from "../protocol/shapes/core.ts";
import type { CallToolResult, ListToolsResult, Tool } from "../protocol/types.ts";
import type { SchemaValidator, ValidateFunction } from "../protocol/validation.ts";

interface KnownTool {
  readonly tool: Tool;
  readonly rules: HeaderRule[];
  check?: ValidateFunction;
}

/** The tools of one server, as they were listed last. */
export class Tools {
  readonly #limits: Limits;
  readonly #validator: SchemaValidator | undefined;
  #known = new Map<string, KnownTool>();

  constructor(limits: Limits, validator: SchemaValidator | undefined) {
    this.#limits = limits;
    this.#validator = validator;
  }

  /** The definitions, as plain JSON. */
  get all(): Tool[] {
    return [...this.#known.values()].map(({ tool }) => tool);
  }

  /**
   * Takes a list in: doubled names and, where arguments are `mirrored`, tools whose `x-mcp-header` breaks the rules are
   * moved from `tools` to `rejected` (specification 2026-07-28: Streamable HTTP, Schema Extension).
   *
   * @param whole Whether this is the whole list: then what was known before is forgotten.
   */
  take(result: ListToolsResult, mirrored: boolean, whole: boolean): ListToolsResult {
    if (whole) this.#known = new Map();
    const rejected: { name: string; reason: string }[] = [];
    const seen = new Set<string>();
    const tools = result.tools.filter((tool) => {
      const reason = this.#reject(tool, mirrored, seen);
      if (reason !== undefined) rejected.push({ name: String(tool?.name), reason });
      return reason === undefined;
    });
    return rejected.length > 0 ? { ...result, tools, rejected } : result;
  }

  /** Why a tool is left out of the list; undefined when it is taken in. */
  #reject(tool: Tool, mirrored: boolean, seen: Set<string>): string | undefined {
    const wrong = isObject(tool) ? checkResult("tool", tool) : "it is no object";
    if (wrong !== undefined) return wrong;
    const { name, inputSchema } = tool;
    if (seen.has(name)) return "its name was listed before";
    const found = mirrored ? readHeaderRules(inputSchema) : { rules: [] };
    if ("invalid" in found) return found.invalid;
    seen.add(name);
    this.#known.set(name, { tool, rules: found.rules });
    return undefined;
  }

  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(call: JsonObject): Record<string, string> | undefined {
    const rules = this.#known.get(call.name as string)?.rules;
    return rules?.length ? parameterHeaders(rules, call.arguments, this.#limits) : undefined;
  }

  /**
   * Makes a tool's output schema ready, before the tool is called.
   *
   * @throws {ProtocolViolationError} When the schema cannot be used: the tool is not called then.
   */
  prepare(name: string): void {
    const known = this.#known.get(name);
    const { outputSchema } = known?.tool ?? {};
    if (!this.#validator || !known || known.check || !outputSchema) return;
    try {
      known.check = this.#validator(outputSchema);
    } catch (cause) {
      throw mismatch(name, `its output schema: ${(cause as Error).message}`, { cause, delivery: "not-sent" });
    }
  }

  /**
   * Checks a tool's result against its output schema, where it was prepared.
   *
   * @throws {ProtocolViolationError} When the result does not fit.
   */
  check(name: string, raw: JsonObject): CallToolResult {
    const result = raw as unknown as CallToolResult;
    result.content ??= [];
    const check = this.#known.get(name)?.check;
    if (!check || result.isError) return result;
    const validation = check(result.structuredContent);
    if (result.structuredContent === undefined) throw mismatch(name, '"structuredContent" is missing', answered);
    if (validation.valid) return result;
    const [issue] = validation.issues;
    throw mismatch(name, `"structuredContent${issue?.path}" ${issue?.message}`, answered);
  }
}

const answered: McpErrorOptions = { delivery: "answered" };

function mismatch(name: string, wrong: string, options: McpErrorOptions): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the tool "${name}": ${wrong}`, options);
}
