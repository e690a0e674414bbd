/**
 * Gives a server peace that fails again and again: five failures in a row, and nothing is sent for 30 s · 2ⁿ ± 20 %, at most
 * 300 s; then one probe decides. A server that works in between is not refused its calls, but gets little that nobody asked
 * for.
 *
 * @module
 */
import type { Clock, Random } from "../../ports.ts";

const mostFailures = 5;
const first = 30_000;
const longest = 300_000;
const calm = 60_000;
/** What fails within this time of another failure, and was begun before that one, is the same failure. */
const together = 1_000;
/** How much may be sent at once that nobody asked for, once something has failed; from then on one each half minute. */
const mostUnasked = 4;
/** How much of that is left for asking whether the server is back. */
const forProbes = 2;
/** By how many milliseconds a call that works makes the next one due earlier. */
const perCall = 3_000;

/** Counts the failures of one server. What fails together counts once. */
export class Breaker {
  /** Grows with each failure that counts. What is begun remembers it, and hands it in when it fails. */
  turn = 0;
  /** Until when nothing is to be sent, by the monotonic clock. */
  until = 0;
  readonly #parts: { readonly clock: Clock; readonly random: Random };
  #failures = 0;
  #failedAt = -Infinity;
  #opened = 0;
  #troubledAt = -Infinity;
  /** Up to when it is spent what may be sent unasked: all since then is left. */
  #spentAt = -Infinity;

  constructor(parts: { readonly clock: Clock; readonly random: Random }) {
    this.#parts = parts;
  }

  /** Whether it was open, and nothing has worked since. */
  get isDoubtful(): boolean {
    return this.#failures >= mostFailures;
  }

  /** Something worked. */
  worked(): void {
    this.#failures = 0;
    this.#spentAt -= perCall;
  }

  /** Whether nothing has failed for five minutes. */
  get isCalm(): boolean {
    return this.#parts.clock.monotonic() - this.#troubledAt > longest;
  }

  /** A request failed: whether it may be sent again. That there is enough left to ask whether the server is back matters more. */
  mayRepeat(): boolean {
    this.#troubledAt = this.#parts.clock.monotonic();
    return this.may(forProbes);
  }

  /**
   * Whether something may be sent that nobody asked for; then it counts. What worked in between does not make it all right.
   *
   * @param rest How much of it has to be left for what matters more.
   */
  may(rest: number = 0): boolean {
    const now = this.#parts.clock.monotonic();
    if (this.isCalm) return true;
    const spentAt = Math.max(this.#spentAt, now - mostUnasked * first) + first;
    const may = spentAt + rest * first <= now;
    if (may) this.#spentAt = spentAt;
    return may;
  }

  /**
   * Something failed.
   *
   * @param turn What it remembered when it began.
   * @returns Whether that was one too many.
   */
  failed(turn: number = this.turn): boolean {
    const { clock, random } = this.#parts;
    const now = clock.monotonic();
    if (turn !== this.turn && now - this.#failedAt < together) return false;
    this.turn++;
    this.#failedAt = this.#troubledAt = now;
    if (++this.#failures < mostFailures) return false;
    // A server that has worked in between, and had peace for a minute, starts over.
    if (this.#failures === mostFailures && now - this.until >= calm) this.#opened = 0;
    const pause = Math.min(first * 2 ** this.#opened++, longest);
    const jitter = 0.8 + 0.4 * random.fraction();
    this.until = now + Math.min(jitter * pause, longest);
    // The probe that comes next decides alone: nothing is counted down before something works.
    return true;
  }
}
