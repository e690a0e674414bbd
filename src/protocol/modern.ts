/**
 * The modern codec (2026-07-28): what every request carries and what a result's type means.
 *
 * @module
 */
import { ProtocolViolationError } from "./errors.ts";
import type { JsonObject } from "./json_rpc.ts";
import type { Revision } from "./revisions.ts";
import { checkResult } from "./shapes/core.ts";
import type { ClientCapabilities, Implementation, LoggingLevel } from "./types.ts";

/** The prefix of the protocol's own `_meta` keys. */
export const metaPrefix = "io.modelcontextprotocol/";

/** The methods whose result may ask for input (specification: multi round-trip requests, Supported Requests). */
const inputMethods: readonly string[] = ["tools/call", "prompts/get", "resources/read"];

/** What a client says of itself on every request. */
export interface Envelope {
  revision: Revision;
  capabilities: ClientCapabilities;
  clientInfo: Implementation;
  logLevel?: LoggingLevel | undefined;
}

/** The `_meta` of a request (specification: basic, Per-request protocol fields). */
export function modernMeta(envelope: Envelope): JsonObject {
  const { roots, ...capabilities } = envelope.capabilities;
  const meta: JsonObject = {
    [metaPrefix + "protocolVersion"]: envelope.revision,
    // What is told when roots change exists in the handshake era only.
    [metaPrefix + "clientCapabilities"]: (roots ? { ...capabilities, roots: {} } : capabilities) as JsonObject,
    [metaPrefix + "clientInfo"]: envelope.clientInfo as unknown as JsonObject,
  };
  if (envelope.logLevel) meta[metaPrefix + "logLevel"] = envelope.logLevel;
  return meta;
}

/**
 * Judges a result by its type and shape.
 *
 * @param allowed Result types of extensions that this request declared.
 * @returns The type: `complete`, `input_required` or one of `allowed`.
 * @throws {ProtocolViolationError} When the type is unknown here, or the result lacks what its method promises.
 */
export function decodeModern(method: string, result: JsonObject, allowed: readonly string[] | undefined): string {
  const type = result.resultType ?? "complete";
  if (type === "input_required") {
    if (!inputMethods.includes(method)) throw invalid(method, `"${method}" must not ask for input`);
    const wrong = checkResult("input_required", result);
    if (wrong) throw invalid(method, wrong);
    return type;
  }
  if (typeof type !== "string" || (type !== "complete" && !allowed?.includes(type))) {
    throw invalid(method, `"resultType" is ${JSON.stringify(type)}: expected "complete"`);
  }
  const wrong = checkResult(type === "complete" ? method : type, result);
  if (wrong) throw invalid(method, wrong);
  return type;
}

/** The error for a result that is not what its method promises. */
export function invalid(method: string, wrong: string): ProtocolViolationError {
  return new ProtocolViolationError(`Cannot use the result of "${method}": ${wrong}`, { method, delivery: "answered" });
}
