/**
 * The start of a connection, which may take so long and no longer.
 *
 * @module
 */
import { TimeoutError } from "../protocol/errors.ts";
import { coreTimeouts } from "../protocol/limits.ts";
import type { Timeouts } from "../protocol/limits.ts";
import type { Clock } from "../ports.ts";
import { asMcpError } from "./failure.ts";

/**
 * Runs what starts a connection. When it fails or takes longer than `timeouts.start`, it is called off.
 *
 * @param controller Calls it off.
 * @throws {McpError} A `TimeoutError` when it took too long, else what it failed with.
 */
export async function startInTime<T>(
  controller: AbortController,
  clock: Clock,
  timeouts: Partial<Timeouts> | undefined,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = controller;
  const milliseconds = timeouts?.start ?? coreTimeouts.start;
  const late = new TimeoutError("start", milliseconds, { delivery: "not-sent" });
  const stop = clock.schedule(() => controller.abort(late), milliseconds);
  try {
    return await start(signal);
  } catch (error) {
    const reason = signal.reason === late ? late : asMcpError(error);
    controller.abort(reason);
    throw reason;
  } finally {
    stop();
  }
}
