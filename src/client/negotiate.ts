/**
 * Finds out which era a server speaks (specification 2026-07-28: versioning, Backward Compatibility). The verdict is plain
 * JSON: kept, it saves the question.
 *
 * @module
 */
import {
  ConnectionClosedError,
  HeaderMismatchError,
  HttpStatusError,
  MissingCapabilityError,
  PeerExitedError,
  ProtocolViolationError,
  RpcError,
  UnsupportedVersionError,
} from "../protocol/errors.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { metaPrefix } from "../protocol/modern.ts";
import { commonRevision, legacyRevisions, modernRevisions } from "../protocol/revisions.ts";
import type { Era, Revision } from "../protocol/revisions.ts";
import type { DiscoverResult, Implementation } from "../protocol/types.ts";
import type { RequestOptions } from "./session/caller.ts";
import { LegacySession } from "./session/legacy_session.ts";
import { ModernSession } from "./session/modern_session.ts";
import type { ServerInfo, Session, SessionParts } from "./session/session.ts";

/** What is known of a server: which era it speaks and what it said of itself. Plain JSON. */
export interface Verdict {
  era: Era;
  revision?: Revision | undefined;
  /** What it said of itself, so that it need not be asked again. */
  info?: ServerInfo | undefined;
  /** The old two-endpoint HTTP+SSE binding of 2024-11-05. */
  binding?: "http+sse" | undefined;
  /** Until when it may be trusted, in milliseconds since 1970: a legacy server may have been upgraded since. */
  expires?: number | undefined;
}

/** How long a legacy verdict is good for. */
const legacyVerdictLife = 24 * 3_600_000;

/** A modern revision that is spoken, or nothing when only `initialize` is left. */
type Found = { revision: Revision; info: ServerInfo | undefined } | undefined;

/**
 * Opens a session with a server of either era.
 *
 * @throws {UnsupportedVersionError} When there is no revision in common.
 * @throws {McpError} Whatever the transport met with: an outage is no evidence of an era.
 */
export async function negotiate(
  parts: SessionParts,
  verdict: Verdict | undefined,
  options: RequestOptions,
): Promise<Session> {
  if (verdict && (verdict.expires ?? Infinity) > parts.clock.now()) {
    if (verdict.era === "legacy") return await LegacySession.open(parts, options);
    return new ModernSession(parts, verdict.revision ?? newest(), verdict.info);
  }
  const probe = new ModernSession(parts, newest());
  const work = parts.transport.kind === "http" ? overHttp(probe, options) : overChannel(probe, parts, options);
  const found = await work.finally(() => probe.stop());
  if (found instanceof LegacySession) return found;
  return found ? new ModernSession(parts, found.revision, found.info) : await LegacySession.open(parts, options);
}

/** What to remember of a session. */
export function verdictOf(session: Session, now: number): Verdict {
  const { era, revision, info } = session;
  return { era, revision, info, ...(era === "legacy" && { expires: now + legacyVerdictLife }) };
}

async function overHttp(probe: ModernSession, options: RequestOptions): Promise<Found> {
  try {
    return judged(await discover(probe, options), probe);
  } catch (error) {
    if (error instanceof RpcError && error.status === 400 && isModernComplaint(error)) {
      return { revision: probe.revision, info: undefined };
    }
    if (onlyLegacy(error) || isLegacyAnswer(error)) return undefined;
    throw error;
  }
}

/**
 * On a pipe, silence and a lost process mean legacy too. A server that is merely slow is still heard: its late answer to
 * the probe wins over `initialize`.
 */
async function overChannel(
  probe: ModernSession,
  parts: SessionParts,
  options: RequestOptions,
): Promise<Found | LegacySession> {
  const discovered = discover(probe, options).then((result) => judged(result, probe)).catch(
    async (error): Promise<Found> => {
      if (error instanceof PeerExitedError || error instanceof ConnectionClosedError) await restart(parts, error);
      else if (!onlyLegacy(error) && !isLegacyAnswer(error)) throw error;
      return undefined;
    },
  );
  const silence = pause(parts, parts.timeouts.probe);
  const first = await Promise.race([discovered, silence.over]).finally(silence.stop);
  if (first !== "silent") return first;
  const legacy = LegacySession.open(parts, options);
  const late = discovered.then((found) => found ?? legacy, () => legacy);
  late.catch(() => {});
  const winner = await Promise.race([legacy, late]);
  if (!(winner instanceof LegacySession)) legacy.then((session) => session.stop(), () => {});
  return winner;
}

async function restart({ transport }: SessionParts, error: unknown): Promise<void> {
  if (!transport.restart) throw error;
  await transport.restart();
}

function pause(parts: SessionParts, milliseconds: number): { over: Promise<"silent">; stop: () => void } {
  let stop = (): void => {};
  const over = new Promise<"silent">((resolve) => stop = parts.clock.schedule(() => resolve("silent"), milliseconds));
  return { over, stop };
}

function discover(probe: ModernSession, options: RequestOptions): Promise<JsonObject> {
  return probe.request("server/discover", {}, options);
}

function judged(result: JsonObject, probe: ModernSession): Found {
  const discovered = result as unknown as DiscoverResult;
  const { supportedVersions, capabilities, instructions } = discovered;
  const revision = commonRevision(modernRevisions, supportedVersions);
  if (revision) {
    const server = discovered._meta?.[metaPrefix + "serverInfo"] as Implementation | undefined;
    return { revision, info: { server, capabilities, instructions, supportedVersions } };
  }
  if (commonRevision(legacyRevisions, supportedVersions)) return undefined;
  throw new UnsupportedVersionError(
    `"${probe.revision}" and the older revisions are not among what the server speaks: ${supportedVersions.join(", ")}`,
    { rpcCode: -32022, data: { supported: supportedVersions } },
  );
}

/** -32020 and -32021 in the body of an HTTP 400 can only come from a modern server. */
function isModernComplaint(error: RpcError): boolean {
  return error instanceof HeaderMismatchError || error instanceof MissingCapabilityError;
}

/** -32022 whose list holds handshake revisions and no modern one. */
function onlyLegacy(error: unknown): boolean {
  return error instanceof UnsupportedVersionError && !!commonRevision(legacyRevisions, error.supported);
}

/** What a server that knows nothing of `server/discover` answers: any other error, a refused POST, a result of another shape. */
function isLegacyAnswer(error: unknown): boolean {
  if (error instanceof UnsupportedVersionError) return error.supported.length === 0;
  if (error instanceof RpcError) return error.status === undefined || isClientStatus(error.status);
  if (error instanceof HttpStatusError) return isClientStatus(error.status);
  return error instanceof ProtocolViolationError && error.delivery === "answered";
}

function isClientStatus(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429 && status !== 408;
}

function newest(): Revision {
  return modernRevisions[0] as Revision;
}
