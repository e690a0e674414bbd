/**
 * One request in flight: what it waits for, until when, and how it ends. It is the exchange that its transport fills.
 *
 * @module
 */
import { errorFromAnswer, type McpError, ProtocolViolationError, TimeoutError } from "../../protocol/errors.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Cancel, Exchange } from "../../transport/transport.ts";
import type { CallTimeouts, Deadlines, Expiring, Waiting } from "./deadlines.ts";
import type { ClientRequest, RequestOwner, ServerInfo } from "./request.ts";

/** What a call tells its session of. */
export interface CallHost {
  /** A notification that is not this call's progress. */
  notified(notification: JsonRpcNotification, call: Call): void;
  /** A request of the server (legacy). */
  requested(request: JsonRpcRequest, call: Call): void;
}

/** Who says what an answer means, before the caller hears of it. */
export interface CallJudge {
  /**
   * The result as the caller gets it, at once or after more rounds.
   *
   * @throws {McpError} When it is not what its method promises.
   */
  accept(result: JsonObject, call: Call): JsonObject | Promise<JsonObject>;
  /** What may still come of a call that failed; undefined: nothing. */
  recover(error: unknown, call: Call): Promise<JsonObject> | undefined;
}

/** What all calls of one kind in one session have in common. */
export interface CallKind {
  readonly timers: Deadlines;
  readonly host: CallHost;
  /** Without one, answers and errors are given as they come. */
  readonly judge?: CallJudge | undefined;
  /** `headers` over HTTP, `idle` over a channel. */
  readonly firstWait: keyof CallTimeouts;
}

/**
 * The per-call object: id, deadlines, promise. It settles exactly once; what comes later is ignored. A public request that
 * takes several rounds or attempts has one call for each, and only the first one's promise is the caller's.
 */
export class Call implements Exchange, Expiring {
  /** Set when it is sent. */
  id = "";
  readonly request: ClientRequest;
  /** The answer's result. */
  readonly result: Promise<JsonObject>;
  expiresAt = 0;
  /** When the whole request is over, by the monotonic clock; nothing extends it. */
  readonly totalAt: number;
  settled = false;
  /** Who tries again when it failed for good. */
  owner: RequestOwner | undefined;
  /** The round of the public request: 1 is the first. */
  round = 1;
  /** The answers that this round brings. */
  input: JsonObject | undefined;
  /** It repeats another one, after what that one's error told of was made good. */
  repeats = false;
  /** What was known of the server when it was sent. */
  known: ServerInfo | undefined;
  before!: Waiting;
  after!: Waiting;
  readonly #kind: CallKind;
  readonly #timeouts: CallTimeouts;
  #waitingFor!: keyof CallTimeouts;
  #resolve!: (result: JsonObject | Promise<JsonObject>) => void;
  #reject!: (reason: unknown) => void;
  #cancel: Cancel | undefined;
  #tellOver: (() => void) | undefined;
  #progress = -Infinity;

  /**
   * Starts its clock; nothing is sent yet.
   *
   * @param previous The call before it in the same public request: the time goes on.
   * @param now By the monotonic clock.
   * @throws The signal's reason, when it was aborted already.
   */
  constructor(request: ClientRequest, kind: CallKind, previous?: Call, now: number = kind.timers.clock.monotonic()) {
    const { signal, timeout, timeouts } = request.options;
    const { timers } = kind;
    signal?.throwIfAborted();
    this.request = request;
    this.#kind = kind;
    if (previous) {
      this.#timeouts = previous.#timeouts;
      this.totalAt = previous.totalAt;
      this.round = previous.round;
      this.input = previous.input;
    } else {
      this.#timeouts = timeout === undefined && !timeouts ? timers.usual : {
        ...timers.usual,
        ...timeout !== undefined && { headers: timeout, idle: timeout, total: timeout },
        ...timeouts,
      };
      this.totalAt = now + this.#timeouts.total;
    }
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#await(kind.firstWait, now);
    timers.add(this, now);
    signal?.addEventListener("abort", this);
  }

  /** Resolves when this call itself is over, whatever comes after it. */
  get over(): Promise<void> {
    return new Promise((resolve) => this.#tellOver = resolve);
  }

  /** Takes the way to call it off, which `send` gave; calls it off at once when it is needed already. */
  started(cancel: Cancel): void {
    this.#cancel = cancel;
    if (this.settled) cancel(undefined);
  }

  /** Takes its outcome from `work`, unless its time is over first: for what is waited for between two rounds. */
  follow(work: Promise<JsonObject | void>): Promise<JsonObject> {
    this.#await("total");
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
      const { host } = this.#kind;
      if ("id" in message) host.requested(message, this);
      else if (message.method !== "notifications/progress" || params?.progressToken !== this.id) {
        host.notified(message, this);
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
    this.#fail(reason ?? new ProtocolViolationError(`"${this.request.method}" gave no answer`));
  }

  /** The caller's own abort, as the signal's listener. */
  handleEvent(): void {
    this.abort(this.request.options.signal?.reason);
  }

  /** Rejects with `reason` and calls the request off at the server. */
  abort(reason: unknown): void {
    if (this.settled) return;
    this.#fail(reason);
    this.#cancel?.(reason);
  }

  /** Its time is over: called by its {@linkcode Deadlines}. */
  expire(): void {
    const { timeout, named } = this.request.options;
    const kind = this.#waitingFor;
    if (this.#kind.timers.held > 0 && kind === "idle") return this.touch();
    const name = named ?? (timeout === undefined ? kind : "call");
    this.abort(new TimeoutError(name, this.#timeouts[kind], { retryable: true }));
  }

  #done(result: JsonObject): void {
    this.#settle();
    const { judge } = this.#kind;
    if (!judge) return this.#resolve(result);
    try {
      const judged = judge.accept(result, this);
      this.#resolve(judged instanceof Promise ? judged.catch((error) => this.#refused(error)) : judged);
    } catch (error) {
      this.#resolve(this.#refused(error));
    }
  }

  #fail(reason: unknown): void {
    this.#settle();
    const more = this.#kind.judge?.recover(reason, this);
    if (more) this.#resolve(more.catch((error) => this.#refused(error)));
    else if (this.owner) this.#resolve(this.#refused(reason));
    else this.#reject(reason);
  }

  /** It failed for good: whoever asked may try again. */
  #refused(error: unknown): Promise<JsonObject> {
    return this.owner?.failed(error, this) ?? Promise.reject(error);
  }

  #settle(): void {
    this.settled = true;
    this.#kind.timers.delete(this);
    this.request.options.signal?.removeEventListener("abort", this);
    this.#tellOver?.();
  }

  /** Arms the clock for the next sign of life; the total is never extended. */
  #await(kind: keyof CallTimeouts, now: number = this.#kind.timers.clock.monotonic()): void {
    const at = now + this.#timeouts[kind];
    this.#waitingFor = at < this.totalAt ? kind : "total";
    this.expiresAt = Math.min(at, this.totalAt);
  }

  /** Progress extends the idle time. Values that do not rise are dropped. */
  #progressed(progress: Progress): void {
    if (progress.progress <= this.#progress) return;
    this.#progress = progress.progress;
    this.#await("idle");
    try {
      this.request.options.onProgress?.(progress);
    } catch (error) {
      this.abort(error);
    }
  }
}
