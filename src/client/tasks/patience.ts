/**
 * How long somebody waits for a task.
 *
 * @module
 */
import { TimeoutError } from "../../protocol/errors.ts";
import type { Clock } from "../../ports.ts";

/** The caller's signal and time-out in one signal, which lives as long as the waiting. */
export class Patience<Value> {
  readonly signal: AbortSignal;
  /** Ends the waiting: whatever is still under way for it is called off. */
  readonly end: () => void;
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  #beside: Promise<Value | undefined> | undefined;
  #wake: (() => void) | undefined;

  /**
   * @param closing Wakes who waits: what they do next tells them why.
   * @param options `timeout` in milliseconds; without it only the signal ends the waiting. `waited` of them are over already.
   */
  constructor(
    clock: Clock,
    closing: AbortSignal,
    options: { signal: AbortSignal | undefined; timeout: number | undefined; waited: number; server: string },
  ) {
    const { signal, timeout, waited, server } = options;
    const controller = new AbortController();
    const aborted = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", aborted);
    if (signal?.aborted) aborted();
    const late = (): void => controller.abort(new TimeoutError("call", timeout ?? 0, { method: "tools/call", server }));
    const stop = timeout === undefined ? undefined : clock.schedule(late, Math.max(timeout - waited, 0));
    this.#clock = clock;
    this.#closing = closing;
    this.signal = controller.signal;
    this.end = () => {
      stop?.();
      signal?.removeEventListener("abort", aborted);
      controller.abort();
    };
  }

  /** Takes what came beside the pauses, the first time: it ends the one that is under way, and each after it. */
  take(outcome: Promise<Value | undefined>): void {
    this.#beside ??= outcome;
    this.#wake?.();
  }

  /** Waits so many milliseconds; gives what came beside it, if that was something and came before. Rejects as it does. */
  pause(milliseconds: number): Promise<Value | undefined> {
    const { signal } = this;
    if (this.#beside) return this.#beside;
    return new Promise((resolve, reject) => {
      const end = (finish: () => void): void => {
        stop();
        signal.removeEventListener("abort", aborted);
        this.#closing.removeEventListener("abort", wake);
        finish();
      };
      const aborted = (): void => end(() => reject(signal.reason));
      const wake = (): void => end(() => resolve(this.#beside));
      const stop = this.#clock.schedule(wake, this.#closing.aborted ? 0 : milliseconds);
      signal.addEventListener("abort", aborted);
      this.#closing.addEventListener("abort", wake);
      // No promise that lasts is listened to by each pause: it would keep them all.
      this.#wake = wake;
      if (signal.aborted) aborted();
    });
  }
}
