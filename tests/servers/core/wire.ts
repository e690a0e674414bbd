/**
 * The words that all fake peers share: JSON-RPC envelopes, failures and a few readers of untyped JSON. The peers share no
 * code with `src/` but types, so that a mistake there cannot hide here.
 *
 * @module
 */
import type {
  JsonObject,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
  JsonValue,
  RequestId,
} from "../../../src/protocol/json_rpc.ts";

export type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, JsonValue, RequestId };

/** What is told to all who listen. */
export type ServerChange =
  | { type: "tools" | "prompts" | "resources" }
  | { type: "resource"; uri: string }
  | { type: "task"; taskId: string };

/** A failure that becomes a JSON-RPC error; `status` is its HTTP status where it travels over HTTP. */
export class RpcFailure extends Error {
  readonly code: number;
  readonly data: JsonValue | undefined;
  readonly status: number;

  constructor(code: number, message: string, options: { data?: JsonValue; status?: number } = {}) {
    super(message);
    this.code = code;
    this.data = options.data;
    this.status = options.status ?? 200;
  }
}

/** The peer that was asked said no, or cannot: a tool turns it into a result with `isError`. */
export class ClientRefused extends Error {}

/** The answer with a result. */
export function resultOf(id: RequestId, result: JsonObject): JsonRpcResponse {
  return { jsonrpc: "2.0", id, result };
}

/** The answer with an error; without an id when the request's was not readable. */
export function errorOf(id: RequestId | undefined, failure: unknown): JsonRpcResponse {
  const { code, message, data } = failure instanceof RpcFailure
    ? failure
    : { code: -32603, message: failure instanceof Error ? failure.message : "Internal error", data: undefined };
  const error = data === undefined ? { code, message } : { code, message, data };
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

/** A notification. */
export function notificationOf(method: string, params?: JsonObject): JsonRpcNotification {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };
}

/** True for a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a string or a whole number: what may stand as an id or a progress token. */
export function isId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value);
}

/** True for a request: it has a method and a legal id. */
export function isRequest(message: JsonObject): message is JsonObject & JsonRpcRequest {
  return message.jsonrpc === "2.0" && typeof message.method === "string" && isId(message.id) &&
    (message.params === undefined || isJsonObject(message.params));
}

/** Reads an object by key: `{}` when it is not there. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

/** Reads a string by key. */
export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** Reads a number by key. */
export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === "number" ? value : undefined;
}

/** A promise with its two ends in the hand. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(reason: unknown): void;
}

/** Makes a promise with its two ends in the hand (Node 20 has no `Promise.withResolvers`). */
export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<Value>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}

/** Waits for `promise`, or rejects as soon as `signal` is aborted. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise<Value>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** One running request. Its signal is made when somebody asks for it: most requests end before anybody does. */
export interface Running {
  readonly signal: AbortSignal;
  readonly aborted: boolean;
  abort(reason: unknown): void;
}

/** Makes a running request; `parent` is asked for once, together with the signal, and aborts it too. */
export function createRunning(parent?: () => AbortSignal): Running {
  let controller: AbortController | undefined;
  const made = () => {
    if (controller !== undefined) return controller;
    const own = controller = new AbortController();
    const above = parent?.();
    if (above?.aborted) own.abort(above.reason);
    else above?.addEventListener("abort", () => own.abort(above.reason), { once: true });
    return own;
  };
  return {
    get signal() {
      return made().signal;
    },
    get aborted() {
      return controller?.signal.aborted ?? false;
    },
    abort: (reason) => made().abort(reason),
  };
}
