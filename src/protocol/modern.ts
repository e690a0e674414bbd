/**
 * The modern codec (2026-07-28): what every request carries and what a result's type means.
 *
 * @module
 */
import { ProtocolViolationError } from "./errors.ts";
import type { JsonObject } from "./json_rpc.ts";
import { checkResult } from "./shapes/core.ts";
import type { Fields } from "./shapes/shape.ts";

/** The prefix of the protocol's own `_meta` keys. */
export const metaPrefix = "io.modelcontextprotocol/";

/** The methods whose result may ask for input (specification: multi round-trip requests, Supported Requests). */
export const inputMethods: readonly string[] = ["tools/call", "prompts/get", "resources/read"];

/**
 * Judges a result by its type.
 *
 * @param allowed Result types of extensions that this request declared.
 * @returns What it should look like: as its method says when it is complete, else the type: `input_required` or one of `allowed`.
 * @throws {ProtocolViolationError} When the type is unknown here.
 */
export function modernShape(method: string, result: JsonObject, allowed: readonly string[] | undefined): string {
  const { resultType: type = "complete" } = result;
  if (type === "complete") return method;
  const mayBe = type === "input_required" ? inputMethods.includes(method) : allowed?.includes(type as string);
  if (mayBe) return type as string;
  throw invalid(method, `"resultType" is unknown: expected "complete"`);
}

/**
 * Checks the shape of a result.
 *
 * @param shape What it should look like.
 * @param known The rules to go by, where they are others than those of `checkResult`.
 * @throws {ProtocolViolationError} When it lacks what its method promises.
 */
export function checked(method: string, result: JsonObject, shape: string, known?: Fields): void {
  const wrong = checkResult(shape, result, known);
  if (wrong) throw invalid(method, wrong);
}

/** The error for a result that is not what its method promises. */
export function invalid(method: string, wrong: string): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the result of "${method}": ${wrong}`, { method, delivery: "answered" });
}
