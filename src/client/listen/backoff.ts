/**
 * When a stream that broke is opened again: 1 s × 1.6ⁿ ± 20 %, at most 120 s, ten times; it starts over where the
 * stream was open for a while: proxies end each that is silent, many of them after less than a minute.
 *
 * @module
 */
import type { ConnectionClosedError, McpError } from "../../protocol/errors.ts";
import type { Clock, Random } from "../../ports.ts";
import { longestRetry } from "../../protocol/limits/times.ts";

/** Counts the tries of one stream. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #tries = 0;
  #openedAt = Infinity;
  #stop: (() => void) | undefined;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** The stream is open. */
  opened(): void {
    this.#openedAt = this.#clock.monotonic();
  }

  /**
   * Plans the next try. The server's own `retry` may make it later, never sooner.
   *
   * @returns False when it has been tried often enough.
   */
  again(reason: McpError | undefined, open: () => void): boolean {
    const first = 1_000;
    const factor = 1.6;
    const longest = 120_000;
    const mostTries = 10;
    const settled = 10_000;
    if (this.#clock.monotonic() - this.#openedAt >= settled) this.#tries = 0;
    this.#openedAt = Infinity;
    if (this.#tries >= mostTries) return false;
    const asked = (reason as Partial<ConnectionClosedError> | undefined)?.retryAfter ?? 0;
    const jitter = 0.8 + 0.4 * this.#random.fraction();
    const own = jitter * Math.min(first * factor ** this.#tries++, longest);
    this.#stop?.();
    this.#stop = this.#clock.schedule(open, Math.max(own, Math.min(asked, longestRetry)));
    return true;
  }

  /** Calls a planned try off. */
  stop(): void {
    this.#stop?.();
  }
}
