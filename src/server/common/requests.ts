/**
 * Requests that come to nothing: nobody waits for them any more, or nobody answers them.
 *
 * @module
 */
import { MethodNotFoundError } from "../../protocol/errors.ts";
import { excerpt } from "../../protocol/excerpt.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Incoming } from "../seam.ts";

/** Whether a request was called off; its signal is not made for that. */
export function isOver(incoming: Incoming): boolean {
  return incoming.over ? incoming.over() : incoming.signal.aborted;
}

/** The error for a method that is not there. */
export function unknownMethod(method: string, data?: JsonObject): MethodNotFoundError {
  return new MethodNotFoundError(`There is no method "${excerpt(method, 64)}"`, { rpcCode: -32601, data });
}
