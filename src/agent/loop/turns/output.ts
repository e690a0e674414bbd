/**
 * A last answer that has to have a shape.
 *
 * @module
 */
import { findJsonFault } from "../../../hub/models/call/json_fault.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import type { SchemaValidator, ValidateFunction } from "../../../protocol/validation.ts";
import { RunFailure } from "../failures.ts";

/** How often a model is asked again for what fits. */
export const mostCorrections = 2;

/** What a text was read as. */
export type ReadOutput = { readonly value: unknown } | { readonly problem: string };

/** Reads what a model gave for a schema. */
export class OutputShape {
  /** For the model. */
  readonly request: { readonly name: string; readonly schema: JsonObject };
  readonly #check: ValidateFunction;

  /** @throws {RunFailure} When the schema cannot be used. */
  constructor(schema: JsonObject, validator: SchemaValidator) {
    this.request = { name: "output", schema };
    try {
      this.#check = validator(schema);
    } catch (error) {
      throw new RunFailure("output_invalid", `The schema of the output cannot be used: ${(error as Error).message}`);
    }
  }

  /** Reads a text: JSON, also in a block of Markdown. */
  read(text: string): ReadOutput {
    const json = unfenced(text);
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      const { at, expected } = findJsonFault(json) ?? { at: 0, expected: "a JSON object" };
      return { problem: `it is not JSON: at character ${at} expected ${expected}` };
    }
    const validation = this.#check(value);
    if (validation.valid) return { value };
    const issues = validation.issues.slice(0, 5).map(({ path, message }) => `"${path || "/"}" ${message}`);
    return { problem: `it does not fit the schema: ${issues.join("; ")}` };
  }

  /** What a model is told of the shape, where its provider cannot bind it. */
  get advice(): string {
    return `When you are done, answer with one JSON object and nothing else. It has to fit this JSON Schema: ${
      JSON.stringify(this.request.schema)
    }`;
  }
}

/** What stands in a block of Markdown, where that is all there is. */
function unfenced(text: string): string {
  const whole = text.trim();
  const lineEnd = whole.indexOf("\n");
  const isBlock = /^```(?:json)?\s*$/.test(whole.slice(0, Math.max(0, lineEnd))) && whole.endsWith("```");
  return isBlock ? whole.slice(lineEnd, -3) : text;
}

/** What a model is told of an answer that does not fit. */
export function correction(problem: string): string {
  return `Your answer cannot be used: ${problem}. Answer again with one JSON object that fits the schema, and nothing else.`;
}
