/**
 * Checks what tools give against their output schemas, once the tools were listed.
 *
 * @module
 */
import { ProtocolViolationError } from "../../protocol/errors.ts";
import type { McpErrorOptions } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { CallToolResult, Tool } from "../../protocol/types.ts";
import type { SchemaValidator, ValidateFunction } from "../../protocol/validation.ts";

const answered: McpErrorOptions = { delivery: "answered" };

/** The checks of one client's tools. */
export class Outputs {
  readonly #validator: SchemaValidator | undefined;
  /** By the definition that was listed: a new list has new ones. */
  readonly #checks = new WeakMap<Tool, ValidateFunction>();

  constructor(validator: SchemaValidator | undefined) {
    this.#validator = validator;
  }

  /**
   * Makes a tool's output schema ready, before the tool is called.
   *
   * @returns Why the schema cannot be used, if so: the tool is not called then.
   */
  prepare(tool: Tool): ProtocolViolationError | undefined {
    if (!this.#validator || !tool.outputSchema || this.#checks.has(tool)) return undefined;
    try {
      this.#checks.set(tool, this.#validator(tool.outputSchema));
      return undefined;
    } catch (cause) {
      return mismatch(tool.name, `its output schema: ${(cause as Error).message}`, { cause, delivery: "not-sent" });
    }
  }

  /**
   * Checks a tool's result against its output schema, where it was prepared.
   *
   * @throws {ProtocolViolationError} When the result does not fit.
   */
  check(tool: Tool | undefined, raw: JsonObject): CallToolResult {
    const result = raw as unknown as CallToolResult;
    result.content ??= [];
    const check = tool && this.#checks.get(tool);
    if (!check || result.isError) return result;
    const { structuredContent } = result;
    const validation = check(structuredContent);
    if (structuredContent === undefined) throw mismatch(tool.name, '"structuredContent" is missing', answered);
    if (validation.valid) return result;
    const [issue] = validation.issues;
    throw mismatch(tool.name, `"structuredContent${issue?.path}" ${issue?.message}`, answered);
  }
}

function mismatch(name: string, wrong: string, options: McpErrorOptions): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the tool "${name}": ${wrong}`, options);
}
