/**
 * What is remembered of a server, and how it is found out that it does not hold.
 *
 * @module
 */
import {
  HeaderMismatchError,
  HttpStatusError,
  InvalidParamsError,
  InvalidRequestError,
  McpError,
  UnsupportedVersionError,
} from "../../protocol/errors.ts";
import { newestRevision } from "../negotiate.ts";
import type { Verdict } from "../negotiate.ts";
import { LegacySession } from "../session/legacy_session.ts";
import { ModernSession } from "../session/modern_session.ts";
import type { Session, SessionParts } from "../session/session.ts";

/** How long a legacy verdict is good for. */
const legacyVerdictLife = 24 * 3_600_000;
const noEndpoint = /^40[045]$/;

/** What to remember of a session. */
export function verdictOf(session: Session, now: number): Verdict {
  const { era, revision, info } = session;
  return { era, revision, info, ...(era === "legacy" && { expires: now + legacyVerdictLife }) };
}

/** Opens a session by what is remembered; undefined when that is nothing, or too old. */
export async function openAs(verdict: Verdict | undefined, parts: SessionParts): Promise<Session | undefined> {
  if (!verdict || (verdict.expires ?? Infinity) <= parts.clock.now()) return undefined;
  if (verdict.era === "legacy") return await new LegacySession(parts).open();
  return new ModernSession(parts, verdict.revision ?? newestRevision, verdict.info);
}

/** True for what a server answers that has no such endpoint. */
export function isWrongBinding(error: unknown): boolean {
  return error instanceof HttpStatusError && noEndpoint.test(String(error.status));
}

/** True for what a server answers to the manners of the other era, before it has run anything. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof InvalidParamsError || error instanceof HeaderMismatchError) return false;
  const { status } = error as { status?: number };
  return error instanceof InvalidRequestError || error instanceof UnsupportedVersionError ||
    (error instanceof McpError && noEndpoint.test(String(status)));
}
