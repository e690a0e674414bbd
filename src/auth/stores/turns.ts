/**
 * Changes of one key, one after another.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** A change that is under way, or waits for another one. */
interface Turn {
  /** Until when it is waited for, by the monotonic clock. */
  readonly until: number;
  readonly over: Promise<void>;
}

/** Does what is to be done with one key one after another. */
export class Turns {
  readonly #clock: Clock;
  readonly #patience: number;
  /** The last one of each key. */
  readonly #turns = new Map<string, Turn>();

  /** @param patience How long a change waits for the one before it, in milliseconds: a Worker may have ended that one with its request. */
  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Does it when it is its turn. */
  async alone<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
    const before = this.#turns.get(key);
    const now = this.#clock.monotonic();
    let end = (): void => {};
    const over = new Promise<void>((resolve) => end = resolve);
    const own: Turn = { until: Math.max(before?.until ?? 0, now) + this.#patience, over };
    this.#turns.set(key, own);
    try {
      if (before) await this.#waitFor(before, now);
      return await work();
    } finally {
      end();
      if (this.#turns.get(key) === own) this.#turns.delete(key);
    }
  }

  async #waitFor({ over, until }: Turn, now: number): Promise<void> {
    let callOff = (): void => {};
    const late = new Promise<void>((resolve) => callOff = this.#clock.schedule(resolve, until - now));
    await Promise.race([over, late]).finally(callOff);
  }
}
