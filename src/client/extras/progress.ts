/**
 * Keeps a flood of progress away from its listener.
 *
 * @module
 */
import { find, maybeNumber, maybeText } from "../../protocol/shapes/shape.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";

/** A sign of progress may be told for each millisecond; a thousand may be told at once. */
const time = 1;
const most = 1_000;

const rest = { total: maybeNumber, message: maybeText };

/**
 * Does what `send` does, and tells `listener` of at most 1,000 signs of progress a second, and of the latest one at the end.
 * Of a `total` or a `message` that is none the listener is not told.
 *
 * @param send Takes the listener to use, which gives what `listener` gives: that may be a promise.
 */
export async function calmly<Value>(
  listener: (progress: Progress) => unknown,
  clock: Clock,
  send: (listener: (progress: Progress) => unknown) => Promise<Value>,
): Promise<Value> {
  /** The time that was taken up so far, by the monotonic clock. */
  let until = -Infinity;
  let held: Progress | undefined;
  const tell = (): unknown => {
    const progress = held;
    held = undefined;
    return progress && listener(progress);
  };
  try {
    return await send((progress) => {
      const now = clock.monotonic();
      const next = Math.max(until, now - most) + time;
      held = find(progress, rest) ? { progress: progress.progress } : progress;
      if (next > now) return;
      until = next;
      return tell();
    });
  } finally {
    // It is over: of what fails later there is nobody to be told.
    (tell() as Partial<Promise<unknown>> | undefined)?.catch?.(() => {});
  }
}
