/**
 * Asks a quiet server now and then whether it is alive. It never keeps a process alive itself.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** The optional ping of one client (specification 2025-11-25: ping). */
export class KeepAlive {
  readonly #clock: Clock;
  readonly #every: number | undefined;
  readonly #ping: () => Promise<void>;
  #lastUsed = 0;
  #stop: (() => void) | undefined;

  /**
   * @param every After how many quiet milliseconds it asks; undefined turns it off.
   * @param ping Asks. A failure is nobody's: the next request meets it too.
   */
  constructor(clock: Clock, every: number | undefined, ping: () => Promise<void>) {
    this.#clock = clock;
    this.#every = every;
    this.#ping = ping;
  }

  /** Something was asked: the server is not quiet. */
  used(): void {
    if (this.#every) this.#lastUsed = this.#clock.monotonic();
  }

  /** Starts over. */
  start(): void {
    // Of undefined and what is no time nothing is asked.
    const every = this.#every!;
    this.stop();
    if (!(every > 0)) return;
    this.#stop = this.#clock.schedule(
      () => {
        if (this.#clock.monotonic() - this.#lastUsed >= every) this.#ping().catch(() => {});
        this.start();
      },
      every,
      { background: true },
    );
  }

  /** Asks no more. */
  stop(): void {
    this.#stop?.();
  }
}
