/**
 * Work that many want at once, and one does.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** One piece of work at a time: who comes while it is under way gets its result. */
export class Shared<Value> {
  readonly #clock: Clock;
  readonly #patience: number;
  #work: { readonly until: number; readonly result: Promise<Value> } | undefined;

  /**
   * @param patience How long it is waited for, in milliseconds, before one who waits begins anew: it may belong to a request that a
   * Worker has ended together with all that it awaited.
   */
  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** The result of the work under way, or of that which `begin` begins. Who gives up ends nothing. */
  async join(begin: () => Promise<Value>, signal: AbortSignal | null | undefined): Promise<Value> {
    for (;;) {
      signal?.throwIfAborted();
      const now = this.#clock.monotonic();
      if (!this.#work || this.#work.until <= now) {
        const result = begin().finally(() => {
          if (this.#work?.result === result) this.#work = undefined;
        });
        this.#work = { until: now + this.#patience, result };
      }
      const { result, until } = this.#work;
      let clean = (): void => {};
      const done = new Promise<{ readonly value: Value } | undefined>((resolve, reject) => {
        const stop = this.#clock.schedule(() => resolve(undefined), until - now);
        const onAbort = (): void => reject(signal?.reason);
        signal?.addEventListener("abort", onAbort);
        clean = () => (stop(), signal?.removeEventListener("abort", onAbort));
        result.then((value) => resolve({ value }), reject);
      });
      const outcome = await done.finally(clean);
      if (outcome) return outcome.value;
    }
  }

  /** Waits until nothing is under way. */
  async settle(): Promise<void> {
    await this.#work?.result.catch(() => {});
  }
}
