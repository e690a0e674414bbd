/**
 * A clock that stands still until a test moves it.
 *
 * @module
 */
import type { Clock } from "../../src/ports.ts";
import { isCryptoBusy } from "./clocks/busy_crypto.ts";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** How many turns of the event loop are given to what a timer set going: streams in memory take a few on some runtimes. */
const turns = 6;
/** And as many timers at the most while the runtime's cryptography is at work: on a busy machine it takes a while. */
const mostTurns = 20_000;
/** A turn that takes no time, where the runtime has one: a timer of 0 takes a millisecond, and two of them on Deno. */
const turn: (resolve: () => void) => void = (globalThis as { setImmediate?: (resolve: () => void) => void })
  .setImmediate ?? ((resolve) => void setTimeout(resolve, 0));

/** Time by hand: `advance` runs the timers that fall due, in their order, and lets their work settle in between. */
export class VirtualClock implements Clock {
  readonly #startedAt: number;
  readonly #timers = new Set<Timer>();
  #elapsed = 0;

  /** @param startedAt Where `now()` begins, in milliseconds since 1970. */
  constructor(startedAt: number = Date.UTC(2026, 6, 28)) {
    this.#startedAt = startedAt;
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#startedAt + this.#elapsed;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  schedule(callback: () => void, milliseconds: number): () => void {
    const timer = { at: this.#elapsed + Math.min(Math.max(milliseconds, 0) || 0, 2 ** 31 - 1), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves on by so many milliseconds; resolves when all that fell due has run and settled. */
  async advance(milliseconds: number): Promise<void> {
    const until = this.#elapsed + milliseconds;
    await this.settle();
    for (let timer = this.#next(); timer && timer.at <= until; timer = this.#next()) {
      this.#run(timer);
      await this.settle();
    }
    this.#elapsed = until;
  }

  /**
   * Moves on from timer to timer until `work` is done, and gives what it gives.
   *
   * @param most How far it may move, in milliseconds (a day).
   */
  async until<Value>(work: Promise<Value>, most: number = 86_400_000): Promise<Value> {
    let done = false;
    const finish = () => {
      done = true;
    };
    work.then(finish, finish);
    const last = this.#elapsed + most;
    for (await this.settle(); !done; await this.settle()) {
      const timer = this.#next();
      if (timer && timer.at <= last) {
        this.#run(timer);
        continue;
      }
      // What runs outside of the program, such as the runtime's cryptography, needs real time on a busy machine.
      for (let left = 100; left && !done; left--) await this.settle();
      if (done) break;
      if (!timer) throw new Error("Nothing is left to wait for, and the work is not done");
      throw new Error(`The work is not done within ${most} ms`);
    }
    return await work;
  }

  /** Lets everything run that needs no time to pass. */
  async settle(): Promise<void> {
    for (let at = 0; at === 0 || (isCryptoBusy() && at < mostTurns); at++) {
      for (let left = turns; left; left--) await new Promise<void>((resolve) => void turn(resolve));
      await new Promise<void>((resolve) => void setTimeout(resolve, 0));
    }
  }

  #run(timer: Timer): void {
    this.#timers.delete(timer);
    this.#elapsed = Math.max(this.#elapsed, timer.at);
    timer.callback();
  }

  /** The timer that falls due first; of two at one time the older one. */
  #next(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer;
    return first;
  }
}
