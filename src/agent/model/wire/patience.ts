/**
 * How long a provider is waited for, and who calls it off.
 *
 * @module
 */
import type { Clock } from "../../../ports.ts";
import { TimeoutError } from "../../../protocol/errors.ts";
import type { TimeoutKind } from "../../../protocol/errors.ts";

/** How long a model may take, in milliseconds. */
export interface ModelTimeouts {
  /** Until its reply begins (120,000). */
  readonly headers?: number | undefined;
  /** Between two signs of life of a reply, comments included (120,000). */
  readonly idle?: number | undefined;
  /** For a whole answer (900,000). */
  readonly total?: number | undefined;
}

/** The time-outs of a model, filled in. */
export type FilledTimeouts = { readonly [Name in keyof ModelTimeouts]-?: number };

/**
 * Fills the time-outs in.
 *
 * @throws {RangeError} When one is no positive number.
 */
export function fillTimeouts(given: ModelTimeouts = {}): FilledTimeouts {
  const { headers = 120_000, idle = 120_000, total = 900_000 } = given;
  for (const [name, value] of Object.entries({ headers, idle, total })) {
    if (!(value > 0)) throw new RangeError(`Cannot use "timeouts.${name}" ${value}: expected milliseconds above 0`);
  }
  return { headers, idle, total };
}

/** One question to a model: whatever it waits for ends with its signal, which is aborted by the caller or by time. */
export class Patience {
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #caller: AbortSignal | undefined;
  readonly #stopTotal: () => void;
  readonly #onAbort: () => void;

  /**
   * Begins to count.
   *
   * @param total Milliseconds for all of it.
   * @param caller Calls it off.
   */
  constructor(clock: Clock, total: number, caller: AbortSignal | undefined) {
    this.#clock = clock;
    this.#caller = caller;
    this.#onAbort = () => this.#controller.abort(caller?.reason);
    caller?.addEventListener("abort", this.#onAbort, { once: true });
    if (caller?.aborted) this.#onAbort();
    this.#stopTotal = clock.schedule(() => this.#controller.abort(new TimeoutError("total", total)), total, {
      background: true,
    });
  }

  /** Aborted when there is nothing to wait for any longer. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Waits for one thing. When its time is over, the whole question is.
   *
   * @param kind What the error calls the time-out.
   * @throws {TimeoutError} When it is not there in time, or the total ran out.
   * @throws The caller's own reason, when it calls off.
   */
  wait<Value>(work: Promise<Value>, kind: TimeoutKind, milliseconds: number): Promise<Value> {
    const { signal } = this.#controller;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        finish();
        reject(signal.reason);
      };
      const stop = this.#clock.schedule(
        () => this.#controller.abort(new TimeoutError(kind, milliseconds)),
        milliseconds,
      );
      const finish = () => {
        stop();
        signal.removeEventListener("abort", onAbort);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) onAbort();
      work.then((value) => {
        finish();
        resolve(value);
      }, (error) => {
        finish();
        reject(error);
      });
    });
  }

  /** What a failure comes from: the caller's reason, the time-out that ran out, or the failure itself. */
  reasonOf(error: unknown): unknown {
    return this.signal.aborted ? this.signal.reason : error;
  }

  /** Whether the caller has called it off. */
  get isCalledOff(): boolean {
    return this.#caller?.aborted === true;
  }

  /** It is over, however it went: what is still open is given up. */
  close(): void {
    this.#stopTotal();
    this.#caller?.removeEventListener("abort", this.#onAbort);
    this.#controller.abort();
  }
}
