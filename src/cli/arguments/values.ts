/**
 * What others read too, with errors of the command.
 *
 * @module
 */
import type { Piece } from "../../protocol/arguments/piece.ts";
import { buildArguments as build } from "../../protocol/arguments/values.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";

/**
 * Puts the pieces together, by the tool's input schema.
 *
 * @throws {UsageError} When a key that is no list is given twice.
 */
export function buildArguments(pieces: readonly Piece[], schema: unknown): JsonObject {
  return asUsage(() => build(pieces, schema));
}

/**
 * What cannot be read is wrong use of the command here.
 *
 * @throws {UsageError} In the place of a TypeError.
 */
export function asUsage<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}
