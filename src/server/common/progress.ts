/**
 * Signs of progress of one request: rising, not too many, and the last one not lost (specification: progress).
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { Progress } from "../../protocol/types.ts";

/** Between two signs in the long run, in milliseconds: 20 a second. */
const pace = 50;

/** Thins out what a handler tells of its progress. */
export class ProgressMeter {
  readonly #clock: Clock;
  readonly #send: (progress: Progress) => void;
  readonly #burst: number;
  /** The highest that was told, also if it waits still. */
  #highest = -Infinity;
  /** When the allowance is whole again: each sign moves it on by one pace. */
  #wholeAt = -Infinity;
  #waiting: Progress | undefined;
  #callOff: (() => void) | undefined;
  #over: boolean | undefined;

  /**
   * @param send Sends one sign.
   * @param burst How many may go out at once after a pause.
   */
  constructor(clock: Clock, send: (progress: Progress) => void, burst = 1) {
    this.#clock = clock;
    this.#send = send;
    this.#burst = burst;
  }

  /** Takes a sign. One that does not rise is dropped; one that comes too soon waits, and the next takes its place. */
  tell(told: Progress): void {
    if (this.#over) return;
    // The author may change it afterwards.
    const progress = { ...told };
    const { progress: value } = progress;
    if (!Number.isFinite(value) || value <= this.#highest) return;
    this.#highest = value;
    this.#waiting = progress;
    if (this.#callOff) return;
    const wait = this.#wholeAt - this.#clock.monotonic() - pace * (this.#burst - 1);
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
    this.#wholeAt = Math.max(this.#wholeAt, this.#clock.monotonic()) + pace;
    this.#send(progress);
  }
}
