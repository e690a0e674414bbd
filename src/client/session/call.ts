/**
 * One request in flight: what it waits for, until when, and how it ends. It is the exchange that its transport fills.
 *
 * @module
 */
import { errorFromAnswer, type McpError, ProtocolViolationError, TimeoutError } from "../../protocol/errors.ts";
import { fillIn } from "../../protocol/limits.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Cancel, Exchange } from "../../transport/transport.ts";
import type { CallTimeouts, Deadlines, Expiring, Waiting } from "./deadlines.ts";
import type { ClientRequest, RequestOwner, ServerInfo } from "./request.ts";

/** What a call tells of beside its answer. */
export interface CallHost {
  /** A notification that is not this call's progress, or a request of the server (legacy). */
  take(message: JsonRpcRequest | JsonRpcNotification, call: Call): void;
}

/** What a call needs of its session, which says what an answer means before the caller hears of it. */
export interface CallSession extends CallHost, Pick<Deadlines, "add" | "clock" | "delete" | "held" | "usual"> {
  /** `headers` over HTTP, `idle` over a channel. */
  readonly firstWait: keyof CallTimeouts;
  /**
   * The result as the caller gets it, at once or after more rounds.
   *
   * @throws {McpError} When it is not what its method promises.
   */
  accept(result: JsonObject, call: Call): JsonObject | Promise<JsonObject>;
  /** What may still come of a call that failed; undefined: nothing. */
  recover(error: unknown, call: Call): Promise<JsonObject> | undefined;
}

/**
 * The per-call object: id, deadlines, promise. It settles exactly once; what comes later is ignored. A public request that
 * takes several rounds or attempts has one call for each, and only the first one's promise is the caller's.
 */
export class Call implements Exchange, Expiring {
  /** Set when it is sent. */
  declare id: number;
  declare readonly request: ClientRequest;
  /** The answer's result. */
  declare readonly result: Promise<JsonObject>;
  declare expiresAt: number;
  /** When the whole request is over, by the monotonic clock; nothing extends it. */
  declare readonly totalAt: number;
  declare settled: boolean | undefined;
  /** Who tries again when it failed for good. */
  declare owner: RequestOwner | undefined;
  /** The round of the public request: 1 is the first. */
  round = 1;
  /** The answers that this round brings. */
  declare input: JsonObject | undefined;
  /** It repeats another one, after what that one's error told of was made good. */
  declare repeats: boolean | undefined;
  /** What was known of the server when it was sent. */
  declare known: ServerInfo | undefined;
  /** Called when this call itself is over, whatever comes after it. */
  declare over: (() => void) | undefined;
  /** The user was done with a page meanwhile. */
  declare visited: boolean | undefined;
  declare before: Waiting;
  declare after: Waiting;
  /** Stops its own timer, in an isolate where it has one. */
  declare stopTimer: (() => void) | undefined;
  readonly #session: CallSession;
  readonly #host: CallHost | undefined;
  readonly #timeouts: CallTimeouts;
  #waitingFor!: keyof CallTimeouts;
  #resolve!: (result: JsonObject | Promise<JsonObject>) => void;
  #cancel: Cancel | undefined;
  /** Undefined before the first: nothing is below it. */
  #progress!: number;

  /**
   * Starts its clock; nothing is sent yet. A signal that was aborted before ends it at once.
   *
   * @param host Takes what comes beside the answer; the answer itself is given as it comes. Without a host the session judges it.
   * @param previous The call before it in the same public request: the time goes on.
   * @param now By the monotonic clock.
   */
  constructor(
    request: ClientRequest,
    session: CallSession,
    host?: CallHost,
    previous?: Call,
    now: number = session.clock.monotonic(),
  ) {
    const { signal, timeout, timeouts, endsAt } = request.options;
    this.request = request;
    this.#session = session;
    this.#host = host;
    if (previous) {
      this.#timeouts = previous.#timeouts;
      this.totalAt = previous.totalAt;
      this.round = previous.round;
      this.input = previous.input;
    } else {
      this.#timeouts = timeout == null ? session.usual : { headers: timeout, idle: timeout, total: timeout };
      if (timeouts) this.#timeouts = fillIn(this.#timeouts, timeouts);
      this.totalAt = endsAt ?? now + this.#timeouts.total;
    }
    this.result = new Promise((resolve) => this.#resolve = resolve);
    this.#arm(session.firstWait, now);
    session.add(this, now);
    signal?.addEventListener("abort", this);
    if (signal?.aborted) this.handleEvent();
  }

  /** Takes the way to call it off, which `send` gave; calls it off at once when it is needed already. */
  started(cancel: Cancel): void {
    this.#cancel = cancel;
    if (this.settled) cancel();
  }

  /** Takes its outcome from `work`, unless its time is over first: for what is waited for between two rounds. */
  follow(work: Promise<JsonObject | void>): Promise<JsonObject> {
    this.#arm("total");
    work.then((result) => this.#done(result as JsonObject), (reason) => this.end(reason));
    return this.result;
  }

  begin(): void {
    if (this.#waitingFor === "headers") this.#arm("idle");
  }

  /** A sign of life: the idle time starts over. */
  touch(): void {
    if (this.#waitingFor === "idle") this.#arm("idle");
  }

  message(message: JsonRpcMessage): void {
    if (this.settled) return;
    if ("method" in message) {
      const { method, params } = message;
      if (method !== "notifications/progress" || params?.progressToken !== this.id) {
        (this.#host ?? this.#session).take(message, this);
      } else if (typeof params.progress === "number") void this.#progressed(params as JsonObject & Progress);
      return;
    }
    const { id, error, result } = message;
    // Some servers keep all ids as texts.
    if (id != null && +id !== this.id) {
      this.abort(new ProtocolViolationError("The answer has another id"));
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

  /** Looks at the time: called by its {@linkcode Deadlines}. */
  expire(now: number): void {
    if (this.expiresAt > now) return;
    const { timeout, named } = this.request.options;
    const kind = this.#waitingFor;
    if (this.#session.held && kind === "idle") return this.touch();
    this.abort(
      new TimeoutError(named ?? (timeout == null ? kind : "call"), this.#timeouts[kind], { retryable: true }),
    );
  }

  #done(result: JsonObject): void {
    this.#settle();
    try {
      const judged = this.#host ? result : this.#session.accept(result, this);
      // Else it comes later, by a promise of whatever class.
      if (judged === result) this.#resolve(result);
      else this.#later(judged as Promise<JsonObject>);
    } catch (error) {
      this.#later(Promise.reject(error));
    }
  }

  #fail(reason: unknown): void {
    this.#settle();
    const more = this.#host ? undefined : this.#session.recover(reason, this);
    this.#later(more ?? Promise.reject(reason));
  }

  /** Comes to what `work` gives. When that fails for good, whoever asked may try again: unless a later round has told them. */
  #later(work: Promise<JsonObject>): void {
    this.#resolve(work.catch((error) => this.owner?.failed(error, this) ?? Promise.reject(error)));
  }

  #settle(): void {
    this.settled = true;
    this.#session.delete(this);
    this.request.options.signal?.removeEventListener("abort", this);
    this.over?.();
  }

  /** Arms the clock for the next sign of life; the total is never extended. */
  #arm(kind: keyof CallTimeouts, now: number = this.#session.clock.monotonic()): void {
    // What is no time at all (NaN) has come.
    this.expiresAt = Math.min(now + this.#timeouts[kind], this.totalAt) || 0;
    this.#waitingFor = this.expiresAt < this.totalAt ? kind : "total";
  }

  /** Progress extends the idle time. Values that do not rise are dropped. A listener that fails, now or later, ends the call. */
  async #progressed(progress: Progress): Promise<void> {
    if (progress.progress <= this.#progress) return;
    this.#progress = progress.progress;
    this.#arm("idle");
    try {
      await this.request.options.onProgress?.(progress);
    } catch (error) {
      this.abort(error);
    }
  }
}
