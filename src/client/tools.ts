/**
 * What is known of a server's tools: which arguments are mirrored as headers, and what their results look like.
 *
 * @module
 */
import { ProtocolViolationError } from "../protocol/errors.ts";
import { parameterHeaders, readHeaderRules } from "../protocol/headers.ts";
import type { HeaderRule } from "../protocol/headers.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import type { Limits } from "../protocol/limits.ts";
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

  /** Forgets everything: the next list starts afresh. */
  clear(): void {
    this.#known = new Map();
  }

  /**
   * Takes a list in: doubled names and, where arguments are `mirrored`, tools whose `x-mcp-header` breaks the rules are
   * moved from `tools` to `rejected` (specification 2026-07-28: Streamable HTTP, Schema Extension).
   */
  take(result: ListToolsResult, mirrored: boolean): ListToolsResult {
    const rejected: { name: string; reason: string }[] = [];
    const seen = new Set<string>();
    const tools = result.tools.filter((tool) => {
      const { name } = tool;
      const found = mirrored ? readHeaderRules(tool.inputSchema) : { rules: [] };
      const reason = seen.has(name) ? "its name was listed before" : "invalid" in found ? found.invalid : undefined;
      if (reason === undefined && "rules" in found) {
        seen.add(name);
        this.#known.set(name, { tool, rules: found.rules });
        return true;
      }
      rejected.push({ name, reason: reason ?? "" });
      return false;
    });
    return rejected.length > 0 ? { ...result, tools, rejected } : result;
  }

  /** The headers that mirror a call's arguments; undefined when there are none or the tool is not known. */
  headers(name: string, args: JsonObject): Record<string, string> | undefined {
    const rules = this.#known.get(name)?.rules;
    return rules && rules.length > 0 ? parameterHeaders(rules, args, this.#limits) : undefined;
  }

  /**
   * Makes a tool's output schema ready, before the tool is called.
   *
   * @throws {ProtocolViolationError} When the schema cannot be used: the tool is not called then.
   */
  prepare(name: string): void {
    const known = this.#known.get(name);
    const schema = known?.tool.outputSchema;
    if (!this.#validator || !known || known.check || schema === undefined) return;
    try {
      known.check = this.#validator(schema);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ProtocolViolationError(`Cannot call the tool "${name}": its output schema cannot be used: ${reason}`, {
        method: "tools/call",
        delivery: "not-sent",
        cause: error,
      });
    }
  }

  /**
   * Checks a tool's result against its output schema, where it was prepared.
   *
   * @throws {ProtocolViolationError} When the result does not fit.
   */
  check(name: string, result: CallToolResult): void {
    const known = this.#known.get(name);
    if (!known?.check || result.isError) return;
    if (result.structuredContent === undefined) throw mismatch(name, '"structuredContent" is missing');
    const validation = known.check(result.structuredContent);
    if (validation.valid) return;
    const [issue] = validation.issues;
    throw mismatch(name, `"structuredContent${issue?.path ?? ""}" ${issue?.message ?? "does not fit"}`);
  }
}

function mismatch(name: string, wrong: string): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the result of the tool "${name}": ${wrong}`, {
    method: "tools/call",
    delivery: "answered",
  });
}
