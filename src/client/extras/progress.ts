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

/** Tells at most 1,000 signs of progress a second, and the latest one at the end. */
export class CalmProgress {
  readonly #clock: Clock;
  readonly #listener: (progress: Progress) => void;
  /** The time that was taken up so far, by the monotonic clock. */
  #until = -Infinity;
  #held: Progress | undefined;

  constructor(clock: Clock, listener: (progress: Progress) => void) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Takes a sign of progress: tells it, or holds it until a later one comes. */
  tell(progress: Progress): void {
    const now = this.#clock.monotonic();
    const until = Math.max(this.#until, now - most * time) + time;
    this.#held = progress;
    if (until > now) return;
    this.#until = until;
    this.end();
  }

  /** Tells what is held. */
  end(): void {
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#listener(held);
  }
}
