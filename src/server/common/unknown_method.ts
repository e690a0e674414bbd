/**
 * Methods that nobody answers.
 *
 * @module
 */
import { MethodNotFoundError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";

/** The error for a method that is not there. */
export function unknownMethod(method: string, data?: JsonObject): MethodNotFoundError {
  return new MethodNotFoundError(`There is no method "${excerpt(method, 64)}"`, { rpcCode: -32601, data });
}
