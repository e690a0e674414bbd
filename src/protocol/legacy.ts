/**
 * The legacy codec (2024-11-05 to 2025-11-25): the handshake, and what a result has to look like.
 *
 * @module
 */
import { UnsupportedVersionError } from "./errors.ts";
import type { JsonObject } from "./json_rpc.ts";
import { invalid } from "./modern.ts";
import { legacyRevisions } from "./revisions.ts";
import type { Revision } from "./revisions.ts";
import { checkResult } from "./shapes/core.ts";
import type { ClientCapabilities, Implementation, InitializeResult } from "./types.ts";

/** The parameters of `initialize`: always the newest handshake revision (specification: lifecycle, Version Negotiation). */
export function initializeParams(capabilities: ClientCapabilities, clientInfo: Implementation): JsonObject {
  return {
    protocolVersion: legacyRevisions[0],
    capabilities: capabilities as JsonObject,
    clientInfo: clientInfo as unknown as JsonObject,
  };
}

/**
 * Reads the answer to `initialize`.
 *
 * @throws {ProtocolViolationError} When it lacks what it has to have.
 * @throws {UnsupportedVersionError} When the server wants a revision that is not spoken here.
 */
export function decodeInitialize(result: JsonObject): { revision: Revision; result: InitializeResult } {
  const initialize = decodeLegacy("initialize", result) as unknown as InitializeResult;
  const revision = legacyRevisions.find((known) => known === initialize.protocolVersion);
  if (!revision) {
    throw new UnsupportedVersionError(
      `The server wants the revision "${initialize.protocolVersion}": expected one of ${legacyRevisions.join(", ")}`,
      { rpcCode: -32022, data: { supported: [initialize.protocolVersion] } },
    );
  }
  return { revision, result: initialize };
}

/**
 * Checks a result.
 *
 * @throws {ProtocolViolationError} When it lacks what its method promises.
 */
export function decodeLegacy(method: string, result: JsonObject): JsonObject {
  const wrong = checkResult(method, result);
  if (wrong) throw invalid(method, wrong);
  return result;
}
