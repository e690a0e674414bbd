/**
 * One request in flight: what it waits for, until when, and how it ends. It is the exchange that its transport fills.
 *
 * @module
 */
import { errorFromAnswer, type McpError, ProtocolViolationError, TimeoutError } from "../../protocol/errors.ts";
import type { TimeoutKind } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Timeouts } from "../../protocol/limits.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Clock } from "../../ports.ts";
import type { Deadlines, Expiring } from "./deadlines.ts";
import type { Cancel, Exchange } from "../../transport/transport.ts";

/** What a call tells its session of. */
export interface CallHost {
  /** A notification that is not this call's progress. */
  notified(notification: JsonRpcNotification, call: Call): void;
  /** A request of the server (legacy). */
  requested(request: JsonRpcRequest, call: Call): void;
}

/** What a call may take, in milliseconds. */
export type CallTimeouts = Pick<Timeouts, "headers" | "idle" | "total">;

/** The whole life of one public request, over all its rounds and attempts. */
export interface RequestClock {
  readonly time: Clock;
  readonly timers: Deadlines;
  readonly options: CallOptions;
  readonly timeouts: CallTimeouts;
  /** When it is over, by the monotonic clock. */
  readonly totalAt: number;
  /** What to call the clock that ran out, where one number stands for all. */
  readonly named: TimeoutKind | undefined;
}

/** What a caller may say about a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/** What a call is made of beside its id and method. */
export interface CallParts {
  readonly clock: RequestClock;
  readonly host: CallHost;
  /** `headers` over HTTP, `idle` over a channel, `total` for what is no request. */
  readonly firstWait: keyof CallTimeouts;
}

/**
 * The per-call object: id, deadlines, promise. It settles exactly once; what comes later is ignored.
 */
export class Call implements Exchange, Expiring {
  readonly id: string;
  readonly method: string;
  /** The answer's result, unchecked. */
  readonly result: Promise<JsonObject>;
  /** When it times out, by the monotonic clock; Infinity for streams that stay open. */
  expiresAt!: number;
  settled = false;
  readonly #clock: RequestClock;
  readonly #host: CallHost;
  #waitingFor!: keyof CallTimeouts;
  #resolve!: (result: JsonObject) => void;
  #reject!: (reason: unknown) => void;
  #cancel: Cancel | undefined;
  #progress = -Infinity;

  constructor(id: string, method: string, { clock, host, firstWait }: CallParts) {
    this.id = id;
    this.method = method;
    this.#clock = clock;
    this.#host = host;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#await(firstWait);
    clock.timers.add(this);
    clock.options.signal?.addEventListener("abort", this);
  }

  /** Takes the way to call it off, which `send` gave; calls it off at once when it is needed already. */
  started(cancel: Cancel): void {
    this.#cancel = cancel;
    if (this.settled) cancel(undefined);
  }

  /** Takes its outcome from `work`, unless its time is over first: for what is waited for between two rounds. */
  follow(work: Promise<JsonObject | void>): Promise<JsonObject> {
    work.then((result) => this.#done(result ?? {}), (reason) => this.#fail(reason));
    return this.result;
  }

  begin(): void {
    if (this.#waitingFor === "headers") this.#await("idle");
  }

  /** A sign of life: the idle time starts over. */
  touch(): void {
    if (this.#waitingFor === "idle") this.#await("idle");
  }

  message(message: JsonRpcMessage): void {
    if (this.settled) return;
    if ("method" in message) {
      const { params } = message;
      if ("id" in message) this.#host.requested(message, this);
      else if (message.method !== "notifications/progress" || params?.progressToken !== this.id) {
        this.#host.notified(message, this);
      } else if (typeof params.progress === "number") this.#progressed(params as JsonObject & Progress);
      return;
    }
    const { id, error, result } = message;
    if (id !== this.id && !(error && id == null)) {
      this.abort(new ProtocolViolationError(`The answer has the id ${JSON.stringify(id)}: expected "${this.id}"`));
    } else if (error) this.#fail(errorFromAnswer(error));
    else this.#done(result as JsonObject);
  }

  end(reason?: McpError): void {
    if (this.settled) return;
    this.#fail(reason ?? new ProtocolViolationError(`"${this.method}" gave no answer`));
  }

  /** The caller's own abort, as the signal's listener. */
  handleEvent(): void {
    this.abort(this.#clock.options.signal?.reason);
  }

  /** Rejects with `reason` and calls the request off at the server. */
  abort(reason: unknown): void {
    if (this.settled) return;
    this.#fail(reason);
    this.#cancel?.(reason);
  }

  /** Its time is over: called by its {@linkcode Deadlines}. */
  expire(): void {
    const { timers, timeouts, named } = this.#clock;
    const kind = this.#waitingFor;
    if (timers.held > 0 && kind === "idle") return this.touch();
    this.abort(new TimeoutError(named ?? kind, timeouts[kind], { retryable: true }));
  }

  #done(result: JsonObject): void {
    this.#settle();
    this.#resolve(result);
  }

  #fail(reason: unknown): void {
    this.#settle();
    this.#reject(reason);
  }

  #settle(): void {
    const { timers, options } = this.#clock;
    this.settled = true;
    timers.delete(this);
    options.signal?.removeEventListener("abort", this);
  }

  /** Arms the clock for the next sign of life; the total is never extended. */
  #await(kind: keyof CallTimeouts): void {
    const { timeouts, totalAt, time } = this.#clock;
    const at = time.monotonic() + timeouts[kind];
    this.#waitingFor = at < totalAt ? kind : "total";
    this.expiresAt = Math.min(at, totalAt);
  }

  /** Progress extends the idle time. Values that do not rise are dropped. */
  #progressed(progress: Progress): void {
    if (progress.progress <= this.#progress) return;
    this.#progress = progress.progress;
    this.#await("idle");
    try {
      this.#clock.options.onProgress?.(progress);
    } catch (error) {
      this.abort(error);
    }
  }
}
