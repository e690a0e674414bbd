/**
 * Work that many want at once, and one does.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import { TimeoutError } from "../../protocol/errors.ts";

/** Work under way. */
interface Work<Value> {
  readonly until: number;
  readonly result: Promise<Value>;
  readonly control: AbortController;
  /** How many wait for it. */
  waiting: number;
}

/** One piece of work at a time: who comes while it is under way gets its result. */
export class Shared<Value> {
  readonly #clock: Clock;
  readonly #patience: number;
  #work: Work<Value> | undefined;

  /**
   * @param patience How long it is waited for, in milliseconds, before one who waits begins anew: it may belong to a request that a
   * Worker has ended together with all that it awaited.
   */
  constructor(clock: Clock, patience: number) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /**
   * The result of the work under way, or of that which `begin` begins. Who gives up ends nothing.
   *
   * @param begin Begins it. What it is given is aborted when nobody waits for it any more: the work may end then.
   * @param grace How long nobody has to have waited for that, in milliseconds: somebody may come back at once.
   */
  async join(
    begin: (control: AbortController) => Promise<Value>,
    signal: AbortSignal | null | undefined,
    grace = 0,
  ): Promise<Value> {
    for (;;) {
      signal?.throwIfAborted();
      const now = this.#clock.monotonic();
      if (!this.#work || this.#work.until <= now) {
        const control = new AbortController();
        const result = begin(control).finally(() => {
          if (this.#work?.result === result) this.#work = undefined;
        });
        this.#work = { until: now + this.#patience, result, control, waiting: 0 };
      }
      const work = this.#work;
      const { result, until } = work;
      work.waiting++;
      let clean = (): void => {};
      const done = new Promise<{ readonly value: Value } | undefined>((resolve, reject) => {
        const stop = this.#clock.schedule(() => resolve(undefined), until - now);
        const onAbort = (): void => reject(signal?.reason);
        signal?.addEventListener("abort", onAbort);
        clean = () => {
          stop();
          signal?.removeEventListener("abort", onAbort);
          const leave = (): void => {
            if (work.waiting || this.#work !== work) return;
            try {
              work.control.abort(signal?.reason);
            } catch {
              // Workers let no request touch what belongs to another: that one's work ends by itself.
            }
          };
          if (--work.waiting === 0) grace ? this.#clock.schedule(leave, grace, { background: true }) : leave();
        };
        result.then((value) => resolve({ value }), reject);
      });
      const outcome = await done.finally(clean);
      if (outcome) return outcome.value;
    }
  }

  /** Whether work is under way. What should have ended long ago is none. */
  get isBusy(): boolean {
    return !!this.#work && this.#work.until > this.#clock.monotonic();
  }

  /** The result of the work under way, where there is some: who asks is one who waits for it. */
  underWay(signal: AbortSignal | null | undefined): Promise<Value> | undefined {
    // Nothing is begun in the place of work that does not end.
    const late = () => Promise.reject(new TimeoutError("total", this.#patience));
    return this.isBusy ? this.join(late, signal) : undefined;
  }

  /** Waits until nothing is under way. */
  async settle(signal?: AbortSignal | null): Promise<void> {
    await this.underWay(signal)?.catch(() => {});
    signal?.throwIfAborted();
  }
}
