/**
 * Finds out which era the server at the other end of a pipe speaks (specification 2026-07-28: stdio, Backward Compatibility).
 *
 * @module
 */
import { ConnectionClosedError, PeerExitedError, TimeoutError } from "../protocol/errors.ts";
import { discover, isLegacyAnswer, judged } from "./negotiate.ts";
import type { Found } from "./negotiate.ts";
import { LegacySession } from "./session/legacy_session.ts";
import type { ModernSession } from "./session/modern_session.ts";
import type { SessionParts } from "./session/session.ts";

/**
 * On a pipe, silence and a lost process mean legacy too. A server that is merely slow is still heard: its late answer to
 * the probe wins over `initialize`.
 */
export async function probePipe(probe: ModernSession, parts: SessionParts): Promise<Found | LegacySession> {
  const { transport } = parts;
  const discovered = discover(probe, parts.timeouts.start).then(judged).catch(async (error): Promise<Found> => {
    if (error instanceof PeerExitedError || error instanceof ConnectionClosedError) {
      // Unless the question was called off because there is an answer already.
      if (transport.ended) {
        // Who has given up wants no other process.
        if (!transport.restart || parts.client().closed) throw error;
        await transport.restart();
      }
    } // A pipe that did not open in time has ended with that; a server that stays silent leaves it open.
    else if (!isLegacyAnswer(error) && !(error instanceof TimeoutError && !transport.ended)) throw error;
    return undefined;
  });
  let stop = (): void => {};
  const silence = new Promise<"silent">((resolve) =>
    stop = parts.clock.schedule(() => resolve("silent"), parts.timeouts.probe)
  );
  const first = await Promise.race([discovered, silence]).finally(stop);
  if (first !== "silent") return first;
  const legacy = new LegacySession(parts);
  const opened: Promise<Found | LegacySession> = legacy.open();
  const refused = opened.catch(async (error) => {
    const found = await discovered;
    if (found) return found;
    throw error;
  });
  const winner = await Promise.race([refused, discovered.then((found) => found ?? refused)]);
  if (winner !== legacy) legacy.stop();
  return winner;
}
