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
  /** How many work at a time. */
  readonly most: number;
  /** How many may wait. */
  readonly queue: number;
}

/** How long somebody waits at most. */
export interface Patience {
  readonly milliseconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** One who waits. */
interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Hands out places, first come, first served. While it is paused nobody gets one. */
export class Limiter {
  /** Places in use. */
  active = 0;
  /** Whether nobody gets a place. */
  paused = false;
  /** Whether there is only one place for now. */
  narrow = false;
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
    const free = !this.paused && this.active < (this.narrow ? 1 : this.#options.most);
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
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        stop();
        signal?.removeEventListener("abort", aborted);
        settle();
      };
      const waiter: Waiter = { resolve: () => done(resolve), reject: (error) => done(() => reject(error)) };
      const aborted = (): void => waiter.reject(signal?.reason);
      const stop = clock.schedule(
        () => waiter.reject(new TimeoutError("call", milliseconds, { delivery: "not-sent" })),
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
    if (this.#waiting.length) this.#next();
  }

  /**
   * Goes on handing out places.
   *
   * @param narrow Only one at a time.
   */
  resume(narrow: boolean = false): void {
    this.paused = false;
    this.narrow = narrow;
    this.#next();
  }

  /** Sends all away who wait. */
  refuse(error: Error): void {
    for (const waiter of [...this.#waiting]) waiter.reject(error);
  }

  #next(): void {
    while (this.#waiting.length && this.take()) this.#waiting[0]?.resolve();
  }
}
