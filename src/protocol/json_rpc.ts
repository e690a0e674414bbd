/**
 * JSON-RPC 2.0 messages as MCP uses them (specification: basic, section Messages).
 *
 * @module
 */

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue | undefined };

/** A JSON object that nobody changes: what TypeScript makes of one with `as const`. */
export interface ConstantJson {
  /** What is there by a name. */
  readonly [key: string]: string | number | boolean | null | undefined | ConstantJson | readonly ConstantItem[];
}

/** An item of a list in {@linkcode ConstantJson}. */
export type ConstantItem = string | number | boolean | null | ConstantJson | readonly ConstantItem[];

/** A request's id: a string or a safe integer, never null. */
export type RequestId = string | number;

/** A call that wants an answer. */
export interface JsonRpcRequest {
  /** The protocol of the envelope. */
  jsonrpc: "2.0";
  /** Names the request; its answer carries the same. */
  id: RequestId;
  /** What is asked for, or told. */
  method: string;
  /** The details; their shape depends on the method. */
  params?: JsonObject;
}

/** A message that wants none. */
export interface JsonRpcNotification {
  /** The protocol of the envelope. */
  jsonrpc: "2.0";
  /** What is asked for, or told. */
  method: string;
  /** The details; their shape depends on the method. */
  params?: JsonObject;
}

/** The error part of an answer. */
export interface JsonRpcError {
  /** The word for this class. */
  code: number;
  /** What went wrong, in words. */
  message: string;
  /** More about it, where the server says more. */
  data?: JsonValue;
}

/** The answer to a request: a result or an error. `id` is missing only when the server could not read it. */
export interface JsonRpcResponse {
  /** The protocol of the envelope. */
  jsonrpc: "2.0";
  /** Names the request; its answer carries the same. */
  id?: RequestId | null;
  /** What the request gave; missing when it failed. */
  result?: JsonObject;
  /** Why it failed; missing when it did not. */
  error?: JsonRpcError;
}

/** Whatever travels. */
export type JsonRpcMessage = JsonRpcRequest | JsonRpcNotification | JsonRpcResponse;

/** What an incoming value is; `undefined` stands for "no JSON-RPC message". */
export type MessageKind = "request" | "notification" | "response" | undefined;

/**
 * Tells what an incoming JSON value is, by its envelope alone: exact keys, strict id types, and exactly one of
 * `result` and `error` in a response.
 */
export function classify(value: unknown): MessageKind {
  if (!isObject(value) || value.jsonrpc !== "2.0") return undefined;
  const { id, method, params = {}, result, error } = value;
  const asks = typeof id === "string" || Number.isSafeInteger(id);
  if (typeof method === "string" && result === undefined && error === undefined && isObject(params)) {
    return asks ? "request" : id === undefined ? "notification" : undefined;
  }
  const answers = error === undefined
    ? isObject(result) && asks
    : result === undefined && isRpcError(error) && (asks || id == null);
  return answers && method === undefined ? "response" : undefined;
}

/** The same of what a server sends: some write `params: null` where there are none, and languages without types `[]` for an empty result. */
export function classifyReceived(value: unknown): MessageKind {
  if (isObject(value)) {
    if (value.params === null) delete value.params;
    if (Array.isArray(value.result) && !value.result.length) value.result = {};
  }
  return classify(value);
}

/** True for the error part of an answer. */
export function isRpcError(value: unknown): value is JsonRpcError {
  return isObject(value) && Number.isInteger(value.code) && typeof value.message === "string";
}

/** True for a JSON object: not null, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for what may stand as a request id: a string or a safe integer. */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** True for a list of texts. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** True for a text, and for nothing. */
export function isTextOrMissing(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
