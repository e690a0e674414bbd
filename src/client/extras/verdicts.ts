/**
 * What is remembered of a server, and how it is found out that it does not hold.
 *
 * @module
 */
import {
  HeaderMismatchError,
  InvalidParamsError,
  InvalidRequestError,
  McpError,
  MissingCapabilityError,
  UnsupportedVersionError,
} from "../../protocol/errors.ts";
import type { Verdict } from "../negotiate.ts";
import { LegacySession } from "../session/legacy_session.ts";
import { ModernSession } from "../session/modern_session.ts";
import type { Session, SessionParts } from "../session/session.ts";

/** What to remember of a session. */
export function verdictOf(session: Session, now: number): Verdict {
  const legacyLife = 24 * 3_600_000;
  const { era, revision, info } = session;
  return { era, revision, info, ...(era === "legacy" && { expires: now + legacyLife }) };
}

/** Opens a session by what is remembered; undefined when that is nothing. */
export async function openAs(verdict: Verdict | undefined, parts: SessionParts): Promise<Session | undefined> {
  if (verdict?.era === "legacy") return await new LegacySession(parts).open();
  return verdict && new ModernSession(parts, verdict.revision, verdict.info);
}

/**
 * Opens a session by another binding.
 *
 * @param first What told that the usual binding is not there, where it was asked: thrown again when the other one is not there either.
 * @param undo Called then, once the other transport is closed.
 */
export async function openInstead(parts: SessionParts, first: unknown, undo: () => void): Promise<Session> {
  try {
    return await new LegacySession(parts).open();
  } catch (second) {
    await parts.transport.close();
    undo();
    if (first) (first as McpError).cause ??= second;
    throw first ?? second;
  }
}

/** True for what a server answers that has no such endpoint, or not for this binding. */
export function isWrongBinding(error: unknown): error is McpError {
  return error instanceof McpError &&
    !(error instanceof HeaderMismatchError || error instanceof MissingCapabilityError ||
      error instanceof UnsupportedVersionError) &&
    /^40[045]$/.test((error as { status?: string }).status!);
}

/** True for what a server answers to the manners of the other era, before it has run anything. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof InvalidParamsError) return false;
  return error instanceof InvalidRequestError || error instanceof UnsupportedVersionError || isWrongBinding(error);
}
