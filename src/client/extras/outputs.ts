/**
 * Checks what tools give against their output schemas, once the tools were listed.
 *
 * @module
 */
import { ProtocolViolationError } from "../../protocol/errors.ts";
import type { McpErrorOptions } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Tool } from "../../protocol/types.ts";
import type { SchemaValidator, ValidateFunction } from "../../protocol/validation.ts";

/** The checks of one client's tools. */
export class Outputs {
  readonly #validator: SchemaValidator | undefined;
  /** By the definition that was listed: a new list has new ones. */
  readonly #checks = new WeakMap<Tool, ValidateFunction>();

  constructor(validator: SchemaValidator | undefined) {
    this.#validator = validator;
  }

  /**
   * Makes the output schema of a tool that has one ready, before the tool is called.
   *
   * @returns Why the schema cannot be used, if so: the tool is not called then.
   */
  prepare(tool: Tool): ProtocolViolationError | undefined {
    const validator = this.#validator;
    try {
      if (validator && !this.#checks.has(tool)) this.#checks.set(tool, validator(tool.outputSchema as JsonObject));
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
  check(tool: Tool, { isError, structuredContent }: JsonObject): void {
    const check = this.#checks.get(tool);
    if (!check || isError) return;
    const validation = check(structuredContent);
    if (structuredContent === undefined) {
      throw mismatch(tool.name, '"structuredContent" is missing', { delivery: "answered" });
    }
    if (validation.valid) return;
    const [issue] = validation.issues;
    throw mismatch(tool.name, `"structuredContent${issue?.path}" ${issue?.message}`, { delivery: "answered" });
  }
}

function mismatch(name: string, wrong: string, options: McpErrorOptions): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the tool "${name}": ${wrong}`, options);
}
