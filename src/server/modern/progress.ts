/**
 * Signs of progress of one request: rising, not too many, and never after the answer (specification: progress).
 *
 * @module
 */
import type { JsonRpcNotification } from "../../protocol/json_rpc.ts";
import type { Progress, ProgressToken } from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";

/** Between two of them in the long run, in milliseconds: 20 a second. */
const pace = 50;
/** How many may go out at once after a pause. */
const burst = 5;

/** Sends the progress of one request. */
export class ProgressSender {
  readonly #token: ProgressToken;
  readonly #clock: Clock;
  readonly #notify: (notification: JsonRpcNotification) => void;
  #highest = -Infinity;
  /** When the allowance is whole again: each sign moves it on by one pace. */
  #wholeAt = -Infinity;
  #waiting: Progress | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(token: ProgressToken, clock: Clock, notify: (notification: JsonRpcNotification) => void) {
    this.#token = token;
    this.#clock = clock;
    this.#notify = notify;
  }

  /** Takes a sign. One that does not rise is dropped; one that comes too soon waits, and the next takes its place. */
  report(told: Progress): void {
    // The author may change it afterwards.
    const progress = { ...told };
    const { progress: value } = progress;
    if (!Number.isFinite(value) || value <= this.#highest) return;
    this.#highest = value;
    const now = this.#clock.monotonic();
    const early = this.#wholeAt - now - pace * (burst - 1);
    if (!this.#waiting && early <= 0) return this.#send(progress, now);
    this.#waiting = progress;
    this.#cancelTimer ??= this.#clock.schedule(() => this.flush(), early);
  }

  /** Sends what waits: what was reported last is never lost. */
  flush(): void {
    const waiting = this.#waiting;
    this.#cancelTimer?.();
    this.#cancelTimer = this.#waiting = undefined;
    if (waiting) this.#send(waiting, this.#clock.monotonic());
  }

  #send({ progress, total, message }: Progress, now: number): void {
    this.#wholeAt = Math.max(this.#wholeAt, now) + pace;
    this.#notify({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: {
        progressToken: this.#token,
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      },
    });
  }
}
