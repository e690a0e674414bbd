/**
 * One timer for all deadlines of a session.
 *
 * @module
 */
import { ConnectionClosedError } from "../../protocol/errors.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { Clock } from "../../ports.ts";

/** Whatever can run out of time. */
export interface Expiring {
  readonly expiresAt: number;
  /** Its time is over. It may have got more by then: see {@linkcode Deadlines.hold}. */
  expire(): void;
  /** A sign of life. */
  touch(): void;
  /** Nothing will come any more. */
  end(reason: McpError): void;
}

const slice = 1_000;

/**
 * One timer for all deadlines of a session. It wakes at most once a second while something waits, and keeps no process
 * alive for longer than that second once nothing does.
 */
export class Deadlines {
  readonly #clock: Clock;
  /** How much is in work that the other side waits for. */
  held = 0;
  readonly #waiting = new Set<Expiring>();
  #stop: (() => void) | undefined;
  #wakesAt = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(item: Expiring): void {
    this.#waiting.add(item);
    if (item.expiresAt < this.#wakesAt) this.#arm(item.expiresAt, this.#clock.monotonic());
  }

  delete(item: Expiring): void {
    this.#waiting.delete(item);
  }

  /** While `work` goes on, the other side waits for us: no idle time runs out, and it starts over afterwards. */
  async hold(work: Promise<void>): Promise<void> {
    this.held++;
    await work;
    this.held--;
    for (const item of this.#waiting) item.touch();
  }

  /** Stops the timer and ends all that waits; for the end of a session. */
  stop(): void {
    this.#stop?.();
    this.#wakesAt = Infinity;
    for (const item of this.#waiting) item.end(new ConnectionClosedError("The session has ended"));
  }

  #arm(earliest: number, now: number): void {
    const at = Math.min(Math.max(earliest, now), now + slice);
    if (at >= this.#wakesAt) return;
    this.#stop?.();
    this.#wakesAt = at;
    this.#stop = this.#clock.schedule(() => this.#wake(), at - now);
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = this.#clock.monotonic();
    let earliest = Infinity;
    for (const item of this.#waiting) {
      if (item.expiresAt <= now) item.expire();
      if (this.#waiting.has(item)) earliest = Math.min(earliest, item.expiresAt);
    }
    if (earliest < Infinity) this.#arm(earliest, now);
  }
}
