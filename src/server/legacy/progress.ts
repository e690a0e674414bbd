/**
 * Progress notices of one request: rising, not too many, and the last one not lost.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { Progress } from "../../protocol/types.ts";

/** Between two notices, in milliseconds: about twenty a second. */
const gap = 50;

/** Thins out what a handler tells of its progress. */
export class ProgressMeter {
  readonly #clock: Clock;
  readonly #send: (progress: Progress) => void;
  /** The highest that was told, also if it waits still. */
  #highest = -Infinity;
  #waiting: Progress | undefined;
  #sentAt = -Infinity;
  #callOff: (() => void) | undefined;
  #over = false;

  /** @param send Sends one notice. */
  constructor(clock: Clock, send: (progress: Progress) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Takes a value: sent now or a little later, unless a higher one takes its place; dropped where it does not rise. */
  tell(progress: Progress): void {
    const { progress: value } = progress;
    if (this.#over || !Number.isFinite(value) || value <= this.#highest) return;
    this.#highest = value;
    // The author may change it afterwards.
    this.#waiting = { ...progress };
    if (this.#callOff) return;
    const wait = this.#sentAt + gap - this.#clock.monotonic();
    if (wait <= 0) this.#flush();
    else this.#callOff = this.#clock.schedule(() => this.#flush(), wait, { background: true });
  }

  /**
   * Nothing more is told.
   *
   * @param flush Whether what waits is sent first.
   */
  end(flush: boolean): void {
    if (this.#over) return;
    if (flush) this.#flush();
    this.#over = true;
    this.#callOff?.();
  }

  #flush(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    const progress = this.#waiting;
    if (!progress || this.#over) return;
    this.#waiting = undefined;
    this.#sentAt = this.#clock.monotonic();
    this.#send(progress);
  }
}
