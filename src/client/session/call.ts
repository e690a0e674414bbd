/**
 * One request in flight: what it waits for, until when, and how it ends. It is the exchange that its transport fills.
 *
 * @module
 */
import { errorFromAnswer, type McpError, ProtocolViolationError, TimeoutError } from "../../protocol/errors.ts";
import type { TimeoutKind } from "../../protocol/errors.ts";
import type {
  JsonObject,
  JsonRpcMessage,
  JsonRpcNotification,
  JsonRpcRequest,
  JsonRpcResponse,
} from "../../protocol/json_rpc.ts";
import type { Timeouts } from "../../protocol/limits.ts";
import type { Progress } from "../../protocol/types.ts";
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

const progressPerSecond = 1_000;

/**
 * The per-call object: id, deadlines, promise. It settles exactly once; what comes later is ignored.
 */
export class Call implements Exchange, Expiring {
  readonly id: string;
  readonly method: string;
  /** The answer's result, unchecked. */
  readonly result: Promise<JsonObject>;
  /** When it times out, by the monotonic clock. */
  expiresAt: number = Infinity;
  settled = false;
  readonly #host: CallHost;
  readonly #timers: Deadlines;
  readonly #timeouts: CallTimeouts;
  readonly #totalAt: number;
  readonly #named: TimeoutKind | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onProgress: ((progress: Progress) => void) | undefined;
  #waitingFor: TimeoutKind;
  #resolve!: (result: JsonObject) => void;
  #reject!: (reason: unknown) => void;
  #cancel: Cancel | undefined;
  #progress = -Infinity;
  #progressSince = 0;
  #progressCount = 0;
  #heldProgress: Progress | undefined;

  constructor(id: string, method: string, parts: CallParts) {
    this.id = id;
    this.method = method;
    this.#host = parts.host;
    this.#timers = parts.timers;
    this.#timeouts = parts.timeouts;
    this.#signal = parts.signal;
    this.#onProgress = parts.onProgress;
    this.#totalAt = parts.totalAt;
    this.#named = parts.named;
    this.#waitingFor = parts.firstWait;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#await(parts.firstWait);
    parts.timers.add(this);
    parts.signal?.addEventListener("abort", this);
  }

  /** Takes the way to call it off, which `send` gave; calls it off at once when it is needed already. */
  started(cancel: Cancel): void {
    this.#cancel = cancel;
    if (this.settled) cancel(undefined);
  }

  /** Takes its outcome from `work`, unless its time is over first: for what is waited for between two rounds. */
  follow(work: Promise<JsonObject | void>): this {
    work.then(
      (result) => this.#done(result ?? {}),
      (reason) => this.#fail(reason),
    );
    return this;
  }

  /** From now on nothing runs out: for streams that stay open. */
  endless(): void {
    this.expiresAt = Infinity;
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
    if (!("method" in message)) return this.#answer(message);
    if ("id" in message) return this.#host.requested(message, this);
    const { params } = message;
    if (message.method !== "notifications/progress" || params?.progressToken !== this.id) {
      return this.#host.notified(message, this);
    }
    if (typeof params.progress === "number") this.#progressed(params as JsonObject & Progress);
  }

  end(reason?: McpError): void {
    if (this.settled) return;
    this.#fail(reason ?? new ProtocolViolationError(`The server took "${this.method}" and gave no answer`));
  }

  /** The caller's own abort, as the signal's listener. */
  handleEvent(): void {
    this.abort(this.#signal?.reason);
  }

  /** Rejects with `reason` and calls the request off at the server. */
  abort(reason: unknown): void {
    if (this.settled) return;
    this.#settle();
    this.#reject(reason);
    this.#cancel?.(reason);
  }

  /** Its time is over: called by its {@linkcode Deadlines}. */
  expire(): void {
    const kind = this.#waitingFor;
    if (this.#timers.held > 0 && kind === "idle") return this.touch();
    const milliseconds = this.#timeouts[kind as keyof CallTimeouts];
    this.abort(new TimeoutError(this.#named ?? kind, milliseconds, { retryable: true }));
  }

  #answer(response: JsonRpcResponse): void {
    const { id, error, result } = response;
    if (id !== this.id && !(error && id == null)) {
      return this.abort(
        new ProtocolViolationError(`The answer has the id ${JSON.stringify(id)}: expected "${this.id}"`),
      );
    }
    if (error) this.#fail(errorFromAnswer(error));
    else this.#done(result as JsonObject);
  }

  #done(result: JsonObject): void {
    if (!this.settled) this.#settle();
    this.#resolve(result);
  }

  #fail(reason: unknown): void {
    if (!this.settled) this.#settle();
    this.#reject(reason);
  }

  #settle(): void {
    if (this.#heldProgress) this.#tell(this.#heldProgress);
    this.settled = true;
    this.#timers.delete(this);
    this.#signal?.removeEventListener("abort", this);
  }

  /** Arms the clock for the next sign of life; the total is never extended. */
  #await(kind: "headers" | "idle"): void {
    const at = this.#timers.now() + this.#timeouts[kind];
    this.#waitingFor = at < this.#totalAt ? kind : "total";
    this.expiresAt = Math.min(at, this.#totalAt);
  }

  /** Progress extends the idle time. Values that do not rise are dropped; a flood is thinned to the latest value. */
  #progressed(progress: Progress): void {
    if (progress.progress <= this.#progress) return;
    this.#progress = progress.progress;
    this.#await("idle");
    const now = this.#timers.now();
    if (now - this.#progressSince >= 1_000) {
      this.#progressSince = now;
      this.#progressCount = 0;
    }
    if (++this.#progressCount > progressPerSecond) this.#heldProgress = progress;
    else this.#tell(progress);
  }

  #tell(progress: Progress): void {
    this.#heldProgress = undefined;
    try {
      this.#onProgress?.(progress);
    } catch (error) {
      this.abort(error);
    }
  }
}

/** What a call is made of beside its id and method. */
export interface CallParts {
  host: CallHost;
  timers: Deadlines;
  timeouts: CallTimeouts;
  /** When the whole call is over, by the monotonic clock. */
  totalAt: number;
  /** What to call the clock that ran out, where one number stands for all. */
  named?: TimeoutKind | undefined;
  /** `headers` over HTTP, `idle` over a channel. */
  firstWait: "headers" | "idle";
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}
