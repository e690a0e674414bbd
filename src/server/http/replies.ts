/**
 * Replies that are no stream: one JSON object, or nothing.
 *
 * @module
 */
import type { JsonRpcError, JsonRpcResponse, JsonValue, RequestId } from "../../protocol/json_rpc.ts";
import { writeMessage } from "../common/write_message.ts";
import type { WriteParts } from "../common/write_message.ts";
import type { Answer } from "../seam.ts";

const jsonType = { "content-type": "application/json" };

/** What a refusal says beside its status. */
export interface Refusal {
  /** The JSON-RPC error code. Default: -32600, Invalid Request. */
  readonly code?: number;
  /** The id of the request, where it could be read. */
  readonly id?: RequestId | undefined;
  readonly data?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply with a JSON-RPC error for its body. */
export function refuse(status: number, message: string, refusal: Refusal = {}): Response {
  const { code = -32600, id, data, headers } = refusal;
  return json(failure(id, data === undefined ? { code, message } : { code, message, data }), status, headers);
}

/** A reply with JSON for its body. */
export function json(
  body: JsonRpcResponse | readonly JsonRpcResponse[],
  status: number,
  headers?: Readonly<Record<string, string>>,
): Response {
  return jsonText(JSON.stringify(body), status, headers);
}

/** A reply whose body is JSON already. */
export function jsonText(text: string, status: number, headers?: Readonly<Record<string, string>>): Response {
  return new Response(text, { status, headers: headers ? { ...jsonType, ...headers } : jsonType });
}

/**
 * An answer as text. One that is no JSON (a circle, a bigint), or as long as `outboxBytes`, becomes an internal error, and
 * the operator hears of it.
 */
export function writeAnswer(
  { response, status }: Answer,
  parts: WriteParts,
): { readonly text: string; readonly status: number } {
  const text = writeMessage(response, parts);
  if (text !== undefined) return { text, status };
  return { text: JSON.stringify(internalError(response.id ?? undefined)), status: 500 };
}

/** 202: what needs no answer was taken. */
export function taken(): Response {
  return new Response(null, { status: 202 });
}

/** 503: what is served here ends. */
export function closing(): Response {
  return refuse(503, "This server is closing", { code: -32603 });
}

/** 405: there is no such method at this endpoint. */
export function notAllowed(allow: string): Response {
  return refuse(405, `Only ${allow} can be used here`, { headers: { allow } });
}

/** The answer for what failed here and not through the caller. */
export function internalError(id: RequestId | undefined): JsonRpcResponse {
  return failure(id, { code: -32603, message: "Internal error" });
}

function failure(id: RequestId | undefined, error: JsonRpcError): JsonRpcResponse {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}
