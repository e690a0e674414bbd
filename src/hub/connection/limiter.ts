/**
 * How many calls one server gets at a time, and who waits.
 *
 * @module
 */
import { OverloadedError, TimeoutError } from "../../protocol/errors.ts";
import type { Clock } from "../../ports.ts";

/** What a limiter keeps to. */
export interface LimiterOptions {
  readonly clock: Clock;
  /** How many work at a time; one always may. */
  readonly most: number;
  /** How many may wait. */
  readonly queue: number;
}

/** How long somebody waits at most. */
export interface Patience {
  readonly milliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** Lets one who waits go on, or refuses it. */
type Waiter = (refusal?: Promise<never>) => void;

/** Hands out places, first come, first served. While it is paused nobody gets one. */
export class Limiter {
  /** Places in use. */
  active = 0;
  /** Whether nobody gets a place. */
  paused: boolean | undefined;
  /** Whether there is only one place for now. */
  narrow: boolean | undefined;
  readonly #options: LimiterOptions;
  /** No map: V8 keeps what was in the tables that it has had. */
  readonly #waiting: Waiter[] = [];

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  /** How many wait. */
  get queued(): number {
    return this.#waiting.length;
  }

  /** Takes a place if one is free now. */
  take(): boolean {
    const free = !this.paused && (!this.active || (!this.narrow && this.active < this.#options.most));
    if (free) this.active++;
    return free;
  }

  /**
   * Waits for a place, and takes it.
   *
   * @throws {OverloadedError} When too many wait already.
   * @throws {TimeoutError} When its time is over.
   */
  wait({ milliseconds, signal }: Patience): Promise<void> {
    const { clock, queue } = this.#options;
    if (this.#waiting.length >= queue) {
      return Promise.reject(new OverloadedError(`${queue} calls wait already`, { retryable: true }));
    }
    return new Promise((resolve) => {
      const waiter: Waiter = (refusal) => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        stop();
        signal?.removeEventListener("abort", aborted);
        resolve(refusal);
      };
      const aborted = (): void => waiter(Promise.reject(signal?.reason));
      const stop = clock.schedule(
        () => waiter(Promise.reject(new TimeoutError("call", milliseconds, { delivery: "not-sent" }))),
        milliseconds,
      );
      signal?.addEventListener("abort", aborted);
      this.#waiting.push(waiter);
      this.#next();
    });
  }

  /** Gives a place back. */
  release(): void {
    this.active--;
    this.#next();
  }

  /**
   * Goes on handing out places.
   *
   * @param narrow Only one at a time.
   */
  resume(narrow?: boolean): void {
    this.paused = false;
    this.narrow = narrow;
    this.#next();
  }

  /** Sends all away who wait. */
  refuse(error: Error): void {
    for (const waiter of [...this.#waiting]) waiter(Promise.reject(error));
  }

  #next(): void {
    while (this.#waiting[0] && this.take()) this.#waiting[0]();
  }
}
