/**
 * Keeps a flood of progress away from its listener.
 *
 * @module
 */
import type { Progress } from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";

/** A sign of progress may be told for each millisecond; a thousand may be told at once. */
const time = 1;
const most = 1_000;

/**
 * Does what `send` does, and tells `listener` of at most 1,000 signs of progress a second, and of the latest one at the end.
 *
 * @param send Takes the listener to use.
 */
export async function calmly<Value>(
  listener: (progress: Progress) => void,
  clock: Clock,
  send: (listener: (progress: Progress) => void) => Promise<Value>,
): Promise<Value> {
  /** The time that was taken up so far, by the monotonic clock. */
  let until = -Infinity;
  let held: Progress | undefined;
  const tell = (): void => {
    const progress = held;
    held = undefined;
    if (progress) listener(progress);
  };
  try {
    return await send((progress) => {
      const now = clock.monotonic();
      const next = Math.max(until, now - most) + time;
      held = progress;
      if (next > now) return;
      until = next;
      tell();
    });
  } finally {
    tell();
  }
}
