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
  type UnauthorizedError,
  UnsupportedVersionError,
} from "../../protocol/errors.ts";
import { commonRevision, modernRevisions } from "../../protocol/revisions.ts";
import { isLegacyAnswer, overHttp } from "../negotiate.ts";
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
export function openAs(verdict: Verdict | undefined, parts: SessionParts): Promise<Session> | Session | undefined {
  if (verdict?.era === "legacy") return new LegacySession(parts).open();
  // A newer version of this library may have written it: what only that one speaks is not claimed.
  return verdict && new ModernSession(parts).agree(commonRevision(modernRevisions, [verdict.revision]), verdict.info);
}

/** As usual; and a gateway may answer what it does not know as if nobody had signed in, with no word of how: a session tells. */
export function askOverHttp(probe: ModernSession, parts: SessionParts): Promise<Session> {
  return overHttp(probe, parts, (error) => {
    const { status, challenge = "=" } = error as Partial<UnauthorizedError>;
    return (status === 401 && !challenge.includes("=")) || isLegacyAnswer(error);
  });
}

/**
 * Opens a session by another binding.
 *
 * @param first What told that the usual binding is not there, where it was asked: thrown again when the other one is not there either.
 * One that wants a token or names another origin is there, and one that is slow may be. What is not thrown is the cause.
 * @param undo Called then, once the other transport is closed.
 */
export async function openInstead(parts: SessionParts, first: unknown, undo: () => void): Promise<Session> {
  try {
    return await new LegacySession(parts).open();
  } catch (second) {
    await parts.transport.close();
    undo();
    const { code, status } = second as UnauthorizedError;
    if (!first) throw second;
    const [told, other] = /^auth|^redirect|^timeout|401/.test(code + status) ? [second, first] : [first, second];
    (told as McpError).cause ??= other;
    throw told;
  }
}

/** True for what a server answers that has no such endpoint, or not for this binding. */
export function isWrongBinding(error: unknown): error is McpError {
  return error instanceof McpError &&
    !(error instanceof HeaderMismatchError || error instanceof MissingCapabilityError ||
      error instanceof UnsupportedVersionError) &&
    /^40[045]$/.test((error as { status?: string }).status!);
}

/**
 * True for what a server answers to the manners of the other era, before it has run anything.
 *
 * @param told What was remembered of it, as long as no result has borne it out.
 * @param session None, where it was asked for one.
 */
export function isRefusal(error: unknown, told?: Verdict, session?: Session): boolean {
  // A modern server misses "_meta"; what a caller got wrong looks the same, but not to a handshake, nor by its status.
  if (error instanceof InvalidParamsError) {
    // Who has just given another handshake session misses nothing: what was in flight may have run.
    return told
      ? told.era === "legacy" && (!session || isWrongBinding(error))
      : session?.era !== "legacy" && isWrongBinding(error);
  }
  return error instanceof InvalidRequestError || error instanceof UnsupportedVersionError || isWrongBinding(error);
}
