/**
 * Finds out which era a server speaks (specification 2026-07-28: versioning, Backward Compatibility). The verdict is plain
 * JSON: kept, it saves the question.
 *
 * @module
 */
import {
  type ConnectionClosedError,
  type HttpStatusError,
  ProtocolViolationError,
  RpcError,
  UnsupportedVersionError,
} from "../protocol/errors.ts";
import { metaPrefix } from "../protocol/modern.ts";
import { agreedRevision, commonRevision, legacyRevisions, modernRevisions } from "../protocol/revisions.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type { DiscoverResult, Implementation } from "../protocol/types.ts";
import { ModernSession } from "./session/modern_session.ts";
import { LegacySession } from "./session/legacy_session.ts";
import type { ServerInfo } from "./session/request.ts";
import type { Session, SessionParts } from "./session/session.ts";

/** What is known of a server: which era it speaks and what it said of itself. Plain JSON. */
export interface Verdict {
  /** Whether it takes requests on their own or wants a session first. */
  era: Era;
  /** The revision that both sides speak; missing: the newest one of the era. */
  revision?: Revision | undefined;
  /** What it said of itself, so that it need not be asked again. */
  info?: ServerInfo | undefined;
  /** The old two-endpoint HTTP+SSE binding of 2024-11-05. */
  binding?: "http+sse" | undefined;
  /** Until when it may be trusted, in milliseconds since 1970: a legacy server may have been upgraded since. */
  expires?: number | undefined;
}

/** Asks what a pipe's server speaks: gives a session with it. */
export interface PipeFeature {
  /**
   * Asks the server behind one pipe.
   *
   * @internal
   */
  (probe: ModernSession, parts: SessionParts): Promise<Session>;
}

/**
 * Opens a session with a server of either era.
 *
 * @param ask Finds out what is spoken; over HTTP, unless it is given.
 * @throws {UnsupportedVersionError} When there is no revision in common.
 * @throws {McpError} Whatever the transport met with: an outage is no evidence of an era.
 */
export async function negotiate(parts: SessionParts, ask: PipeFeature = overHttp): Promise<Session> {
  // What has asked is the session, where that is the era: what is stopped can be used again.
  const probe = new ModernSession(parts);
  return await ask(probe, parts).finally(() => probe.stop());
}

/** Asks a server over HTTP. What is no evidence of an era is thrown, and so is an answer that `isLegacy` took for one wrongly. */
export async function overHttp(
  probe: ModernSession,
  parts: SessionParts,
  isLegacy: (error: unknown) => unknown = isLegacyAnswer,
): Promise<Session> {
  try {
    return await discover(probe, parts);
  } catch (error) {
    const { blocked, status, rpcCode } = error as Partial<ConnectionClosedError & RpcError>;
    // -32020 and -32021 in the body of an HTTP 400 can only come from a modern server.
    if (status === 400 && /^-3202[01]$/.test(rpcCode as never)) return probe;
    // A legacy server's CORS list may not know the probe's headers: the browser refuses it then, and only "initialize" tells.
    if (!blocked && !isLegacy(error)) throw error;
    // Where no session opens either, it had broken, or wants to be signed in to: who says how is told.
    return new LegacySession(parts).open().catch((other) => {
      throw /^(401|5)/.test(status as never) && !/auth/.test(other?.code) ? error : other;
    });
  }
}

/** Asks a server what it speaks: gives a session with it, where that is the modern era. */
export async function discover(probe: ModernSession, parts: SessionParts): Promise<Session> {
  const result: unknown = await probe.request({
    method: "server/discover",
    params: {},
    options: { timeout: parts.timeouts.start, named: "start" },
  });
  const { supportedVersions, capabilities, instructions, _meta } = result as DiscoverResult;
  // Handshake revisions alone are a legacy answer too, for who has asked.
  return probe.agree(agreedRevision(modernRevisions, supportedVersions), {
    server: _meta?.[metaPrefix + "serverInfo"] as Implementation | undefined,
    capabilities,
    instructions,
    supportedVersions,
  });
}

/**
 * What a server answers that knows nothing of `server/discover`: any other error, a refused POST, a result of another shape; or
 * -32022 with a list that holds handshake revisions and no modern one. Some say of what they do not know that they have broken (500).
 */
export function isLegacyAnswer(error: unknown): boolean | Revision | undefined {
  if (error instanceof UnsupportedVersionError) {
    const { supported } = error;
    return !supported.length ||
      (!commonRevision(modernRevisions, supported) && commonRevision(legacyRevisions, supported));
  }
  const { status = error instanceof RpcError && 400, delivery } = error as Partial<HttpStatusError>;
  return error instanceof ProtocolViolationError
    ? delivery === "answered"
    : /^4(?!0[138]|29)|^50[01]/.test(status as never);
}
