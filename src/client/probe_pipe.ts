/**
 * Finds out which era the server at the other end of a pipe speaks (specification 2026-07-28: stdio, Backward Compatibility).
 *
 * @module
 */
import { ConnectionClosedError, PeerExitedError, UnsupportedVersionError } from "../protocol/errors.ts";
import { probeTime } from "../protocol/limits/times.ts";
import { discover, isLegacyAnswer } from "./negotiate.ts";
import { LegacySession } from "./session/legacy_session.ts";
import { ModernSession } from "./session/modern_session.ts";
import type { Session, SessionParts } from "./session/session.ts";

/**
 * On a pipe, silence, a lost process and what is no answer at all mean legacy too. A server that is merely slow is still
 * heard: its late answer to the probe wins over `initialize`. One that refuses `initialize` after it was asked is started anew.
 */
export async function probePipe(probe: ModernSession, parts: SessionParts): Promise<Session> {
  const { transport } = parts;
  let isAnother = false;
  const discovered: Promise<Session | undefined> = discover(probe, parts).catch(async (error) => {
    if (error instanceof PeerExitedError || error instanceof ConnectionClosedError) {
      // Unless the question was called off because there is an answer already.
      if (transport.ended) {
        // Who has given up wants no other process.
        if (!transport.restart || parts.client().closed) throw error;
        await transport.restart();
        isAnother = true;
      }
    } // A pipe that did not open in time has ended with that; silence, and what is no answer at all, leave it open.
    else if (!isLegacyAnswer(error) && (transport.ended || error instanceof UnsupportedVersionError)) throw error;
    return undefined;
  });
  let stop: (() => void) | undefined;
  const silence = new Promise<void>((resolve) =>
    stop = parts.clock.schedule(resolve, parts.timeouts.probe ?? probeTime)
  );
  const first = await Promise.race([discovered, silence]).finally(stop);
  if (first) return first;
  const legacy = new LegacySession(parts);
  // It is asked of a process that was asked nothing else.
  const isFresh = isAnother;
  const opened = legacy.open().catch(async (error): Promise<Session> => {
    if (await discovered) return probe;
    // One that the question has ended by now has not refused the handshake.
    if (isFresh || !(isAnother || isLegacyAnswer(error))) throw error;
    // A bridge may have made its one handshake for the question. What speaks another revision stays so.
    if (!isAnother) await transport.restart?.();
    return legacy.open();
  });
  const winner = await Promise.race([opened, discovered.then((found) => found ?? opened)]);
  if (winner === legacy) return legacy;
  legacy.stop();
  // It was made last, and so hears what belongs to no request.
  return new ModernSession(parts).agree(probe.revision, probe.info);
}
