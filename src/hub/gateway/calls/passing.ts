/**
 * What goes through a gateway, and what stays: `_meta`, errors, names.
 *
 * @module
 */
import { InternalError, InvalidParamsError, McpError, RpcError } from "../../../protocol/errors.ts";
import { excerpt } from "../../../protocol/excerpt.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { metaPrefix } from "../../../protocol/modern.ts";
import type { RequestContext } from "../../../server/definitions.ts";

/** What a caller's `_meta` may tell the servers behind, and how long it may be: the trace that a call belongs to. */
const passed: ReadonlyMap<string, number> = new Map([["traceparent", 128], ["tracestate", 512], ["baggage", 8_192]]);
/** Says in the `_meta` of a call how much its caller wants to hear. */
export const levelKey: string = metaPrefix + "logLevel";

/**
 * The `_meta` of a request to a server behind. Who the caller is, what it can do and its tokens stay here. An object of its own
 * for each call: by it the call is known again.
 */
export function metaFor({ meta, era }: RequestContext): JsonObject {
  const own: JsonObject = {};
  for (const [key, most] of passed) {
    const value = meta[key];
    if (typeof value === "string" && value.length <= most) own[key] = value;
  }
  // How much a session wants to hear is known in front, where the rest is left out.
  const level = era === "legacy" ? "debug" : meta[levelKey];
  if (typeof level === "string") own[levelKey] = level;
  return own;
}

/** Whether it is the word of a server behind, and not of the way to it. */
export function isAnswer(error: unknown): error is RpcError {
  return error instanceof RpcError && error.delivery === "answered" && Number.isSafeInteger(error.rpcCode);
}

/** What failed, as a caller of this era can read it: -32042 and its pages are of the older one alone. */
export function readable(error: unknown, { era }: Pick<RequestContext, "era">): unknown {
  if (era === "legacy" || !isAnswer(error) || error.rpcCode !== -32042) return error;
  const why = "it wants pages to be visited first, and the client in front cannot be asked to, or did not";
  return new InvalidParamsError(`${error.message}: ${why}`, { server: error.server });
}

/**
 * What went wrong behind, as what a caller is answered.
 *
 * @param server The server that it is about.
 */
export function passedError(error: unknown, server: string): unknown {
  if (isAnswer(error)) return new RpcError(error.message, { rpcCode: error.rpcCode, data: error.data });
  if (!(error instanceof McpError)) return error;
  const { message } = error;
  // What goes around a hub says so itself: there is nothing of that name, for this caller.
  if (error instanceof InvalidParamsError && error.rpcCode === -32602) {
    return new InvalidParamsError(message, { rpcCode: -32602 });
  }
  const text = message.includes(`"${server}"`) ? message : `The server "${server}": ${message}`;
  return new InternalError(text, { rpcCode: -32603 });
}

/** -32602: there is none of that name. */
export function unknownName(what: string, name: string): InvalidParamsError {
  return new InvalidParamsError(`Unknown ${what}: ${excerpt(name, 200)}`, { rpcCode: -32602 });
}

/** The text of a parameter. */
export function readText(params: JsonObject, field: string): string {
  const value = params[field];
  if (typeof value === "string") return value;
  throw new InvalidParamsError(`Cannot read the parameters: "${field}" is ${typeof value}, expected text`, {
    rpcCode: -32602,
  });
}
