/**
 * Time for one request: all that it waits for shares one timer of the runtime, since each costs more than what it guards.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** Something that is to be done at a time, by the monotonic clock; undefined when it is called off. */
interface Due {
  readonly at: number;
  work: (() => void) | undefined;
}

/** So many wait before those that were called off are let go of: seldom more than two do. */
const room = 8;
/** How long nobody looks at most, in milliseconds: what is due sooner than what is waited for needs no timer of its own then. */
const slice = 1_000;

/** A clock for one request. Nothing is due before its time; `end` stops its timer. */
export class RequestTimer implements Clock {
  readonly #clock: Clock;
  #waiting: Due[] = [];
  #wakesAt = Infinity;
  #stop: (() => void) | undefined;

  /** @param clock The clock that it is taken from. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** As any clock; it keeps no process alive: the request does. */
  schedule(work: () => void, milliseconds: number): () => void {
    const now = this.monotonic();
    const due: Due = { at: now + milliseconds, work };
    if (this.#waiting.length >= room) this.#waiting = this.#waiting.filter(({ work }) => work);
    this.#waiting.push(due);
    this.#arm(due.at, now);
    return () => due.work = undefined;
  }

  /** Nothing is due any more. */
  end(): void {
    this.#waiting = [];
    this.#stop?.();
    this.#wakesAt = Infinity;
  }

  #arm(at: number, now: number): void {
    const next = Math.min(at, now + slice);
    if (next >= this.#wakesAt) return;
    this.#stop?.();
    this.#wakesAt = next;
    this.#stop = this.#clock.schedule(() => this.#wake(), next - now, { background: true });
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = this.monotonic();
    for (const due of this.#waiting) {
      const { at, work } = due;
      if (!work) continue;
      if (at > now) this.#arm(at, now);
      else {
        due.work = undefined;
        work();
      }
    }
  }
}
