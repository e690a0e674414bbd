/**
 * How a modern answer looks: its type, who gives it, how long it is good, and which status an error has.
 *
 * @module
 */
import { RpcError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonRpcError, RequestId } from "../../protocol/json_rpc.ts";
import { metaPrefix } from "../../protocol/modern.ts";
import type { CacheHints, Implementation } from "../../protocol/types.ts";
import type { Answer } from "../seam.ts";

const serverKey = metaPrefix + "serverInfo";

/** The methods whose results say how long they are good (S-084). */
const cacheable: readonly string[] = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
];

/** The codes of the specification's own range that a modern client may meet (S-125). */
const ownCodes: readonly number[] = [-32020, -32021, -32022];

/** A result as it is, with what every result carries (S-003, S-005). */
export function resultAnswer(id: RequestId, result: JsonObject, info: Implementation, more?: JsonObject): Answer {
  const own = isObject(result._meta) ? result._meta as JsonObject : undefined;
  const _meta = { ...own, ...more, [serverKey]: info as unknown as JsonObject };
  return { response: { jsonrpc: "2.0", id, result: { ...result, _meta } }, status: 200 };
}

/**
 * A plain result, as a complete one.
 *
 * @param hints How long it is good, where the result does not say it; undefined: not at all, and for nobody else.
 * @param more More of its `_meta`.
 */
export function completeAnswer(
  id: RequestId,
  method: string,
  result: JsonObject,
  info: Implementation,
  hints: CacheHints | undefined,
  more?: JsonObject,
): Answer {
  const answer = resultAnswer(id, result, info, more);
  // It is a copy already.
  const complete = answer.response.result as JsonObject;
  complete.resultType = "complete";
  if (cacheable.includes(method)) {
    const scope = hints && (result.cacheScope ?? hints.cacheScope);
    complete.ttlMs = hints ? whole(result.ttlMs ?? hints.ttlMs) : 0;
    complete.cacheScope = scope === "public" ? scope : "private";
  }
  return answer;
}

/** The answer to what went wrong; undefined when it is none of what a caller may be told. */
export function errorAnswer(id: RequestId, error: unknown): Answer | undefined {
  // What another server said, asked by a handler, is no answer of ours.
  if (!(error instanceof RpcError) || error.server !== undefined) return undefined;
  // Of the legacy era: a resource that is not there.
  const code = error.rpcCode === -32002 ? -32602 : error.rpcCode;
  if (!Number.isSafeInteger(code) || code === -32042) return undefined;
  if (code <= -32020 && code >= -32099 && !ownCodes.includes(code)) return undefined;
  const { message, data } = error;
  const status = code === -32601
    ? 404
    : ownCodes.includes(code) || error.status === 400
    ? 400
    : error.status === 403
    ? 403
    : 200;
  return failure(id, data === undefined ? { code, message } : { code, message, data }, status);
}

/** The answer to what nobody expected: it says nothing more. */
export function internalAnswer(id: RequestId): Answer {
  return failure(id, { code: -32603, message: "Internal error" }, 200);
}

function failure(id: RequestId, error: JsonRpcError, status: number): Answer {
  return { response: { jsonrpc: "2.0", id, error }, status };
}

function whole(ttl: unknown): number {
  return typeof ttl === "number" && ttl > 0 ? Math.floor(Math.min(ttl, Number.MAX_SAFE_INTEGER)) : 0;
}
