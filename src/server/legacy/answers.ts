/**
 * Answers to requests of legacy clients: results, and errors that tell nothing of what is inside.
 *
 * @module
 */
import type { Logger } from "../../ports.ts";
import { RpcError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcError, RequestId } from "../../protocol/json_rpc.ts";
import type { Revision } from "../../protocol/revisions.ts";
import type { Answer } from "../seam.ts";

/** What a failed request was. */
export interface Failed {
  readonly id: RequestId;
  readonly method: string;
  readonly revision: Revision;
}

/** A result. */
export function resultAnswer(id: RequestId, result: JsonObject): Answer {
  return { response: { jsonrpc: "2.0", id, result }, status: 200 };
}

/** What was thrown, as an answer; what is not meant for the client is logged, and the answer says nothing of it. */
export function errorAnswer(error: unknown, failed: Failed, logger: Logger | undefined): Answer {
  const { id, method, revision } = failed;
  const told = isForClient(error) ? toldError(error, method, revision) : undefined;
  if (!told) logger?.({ level: "error", message: "A request failed", fields: { method, error } });
  // Only what lacks scope has a status of its own here.
  const status = told && (error as RpcError).status === 403 ? 403 : 200;
  return { response: { jsonrpc: "2.0", id, error: told ?? { code: -32603, message: "Internal error" } }, status };
}

/** An error that names a method is the answer of another peer: not ours to pass on. */
function isForClient(error: unknown): error is RpcError {
  return error instanceof RpcError && error.method === undefined && Number.isInteger(error.rpcCode);
}

function toldError({ rpcCode, message, data }: RpcError, method: string, revision: Revision): JsonRpcError {
  return { code: codeFor(rpcCode, data, method, revision), message, ...(data !== undefined && { data }) };
}

function codeFor(code: number, data: unknown, method: string, revision: Revision): number {
  // A resource that is not there had a code of its own (S-077).
  if (code === -32602 && method === "resources/read" && hasUri(data)) return -32002;
  // Codes of the modern era, and one that came with 2025-11-25.
  if (code <= -32020 && code >= -32022) return -32600;
  return code === -32042 && revision < "2025-11-25" ? -32600 : code;
}

function hasUri(data: unknown): boolean {
  return typeof data === "object" && data !== null && "uri" in data;
}
