/**
 * What a handler gets to do with a legacy client.
 *
 * @module
 */
import { randomHex } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { isObject, isRequestId } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import type { Era, Revision } from "../../protocol/revisions.ts";
import type {
  CreateMessageRequest,
  ElicitRequest,
  Implementation,
  LoggingLevel,
  Meta,
  Progress,
} from "../../protocol/types.ts";
import type { AskOptions, AuthInfo, RequestContext } from "../definitions.ts";
import type { Incoming } from "../seam.ts";
import type { Asks } from "./asks.ts";
import { canAsk, demand } from "./client_side.ts";
import type { Askable, ClientSide } from "./client_side.ts";
import { forgivable } from "../common/forgivable.ts";
import { createMeter, sendLog } from "../common/notices.ts";
import type { ProgressMeter } from "../common/progress.ts";
import { dressElicit, dressSample, readElicit, readRoots, readSample } from "./questions.ts";

/** What all contexts of a session share. */
export interface ContextParts {
  readonly client: ClientSide;
  readonly asks: Asks;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether the client wants log messages of a level. */
  readonly wants: (level: LoggingLevel) => boolean;
}

/**
 * The context of one request, from when it is taken until it is answered or called off. What a handler may take out of it
 * needs no `this`, and is made when it is asked for: most handlers need none.
 */
export class LegacyContext implements RequestContext {
  readonly era: Era = "legacy";
  readonly revision: Revision;
  readonly auth: AuthInfo | undefined;
  readonly client: Implementation | undefined;
  readonly meta: Meta;
  readonly #incoming: Incoming;
  readonly #parts: ContextParts;
  readonly #meter: ProgressMeter | undefined;
  readonly #stopped: () => void;
  #abort: AbortController | undefined;
  /** What listens to the binding's signal. */
  #stop: (() => void) | undefined;
  #over: boolean | undefined;

  /** @param stopped Called once when it is called off before it has ended. */
  constructor(parts: ContextParts, incoming: Incoming, stopped: () => void) {
    const { client } = parts;
    const meta = incoming.message.params?._meta;
    this.revision = client.revision;
    this.auth = incoming.auth;
    this.client = client.info;
    this.meta = isObject(meta) ? meta as Meta : {};
    this.#incoming = incoming;
    this.#parts = parts;
    this.#stopped = stopped;
    const { progressToken } = this.meta;
    if (isRequestId(progressToken)) {
      const words = client.revision >= "2025-03-26";
      this.#meter = createMeter(incoming, progressToken, { clock: parts.clock, words });
    }
    // A binding without `over` tells by its signal alone.
    if (!incoming.over) this.follow();
  }

  /** False once it has ended or was called off: nothing is told or asked any more. */
  get open(): boolean {
    return !this.#over && !this.#incoming.over?.();
  }

  /** Ends it: progress that waits is told first. */
  end(): void {
    if (!this.#over) this.#finish(true);
  }

  /** Nobody waits for its answer any more. Without effect when it has ended. */
  callOff(reason?: unknown): void {
    if (this.#over) return;
    (this.#abort ??= new AbortController()).abort(reason);
    this.#finish(false);
    this.#stopped();
  }

  /** Hears of it at once when the binding calls the request off. */
  follow(): void {
    if (this.#over || this.#stop) return;
    const { signal } = this.#incoming;
    const stop = this.#stop = () => this.callOff(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop);
  }

  get signal(): AbortSignal {
    this.follow();
    return (this.#abort ??= new AbortController()).signal;
  }

  get progress(): RequestContext["progress"] {
    return (progress: Progress): void => this.#meter?.tell(progress);
  }

  get log(): RequestContext["log"] {
    return (level: LoggingLevel, data: JsonValue, logger?: string): void => {
      if (this.open && this.#parts.wants(level)) sendLog(this.#incoming, level, data, logger);
    };
  }

  get elicit(): RequestContext["elicit"] {
    return (request: ElicitRequest, options?: AskOptions) =>
      this.#ask(
        [request.mode === "url" ? "elicitUrl" : "elicit", "elicitation/create"],
        () => dressElicit(request, this.revision, () => randomHex(this.#parts.random, 16)),
        (answer) => readElicit(answer, request),
        options,
      );
  }

  get sample(): RequestContext["sample"] {
    return (request: CreateMessageRequest, options?: AskOptions) =>
      this.#ask(
        [request.tools || request.toolChoice ? "sampleWithTools" : "sample", "sampling/createMessage"],
        () => dressSample(request, this.#parts.client),
        readSample,
        options,
      );
  }

  get roots(): RequestContext["roots"] {
    return (options?: AskOptions) => this.#ask(["roots", "roots/list"], () => undefined, readRoots, options);
  }

  get can(): RequestContext["can"] {
    return (what) => canAsk(this.#parts.client, what);
  }

  /** A handler that left without waiting for its question must not end the process when the client fails it. */
  #ask<Reply>(
    [what, method]: readonly [Askable, string],
    params: () => JsonObject | undefined,
    read: (answer: JsonObject) => Reply,
    options: AskOptions | undefined,
  ): Promise<Reply> {
    const { client, asks } = this.#parts;
    const ask = async (): Promise<Reply> => {
      demand(client, what);
      const dressed = params();
      // From now on it has to be known when the request is called off.
      this.signal.throwIfAborted();
      if (this.#over) throw new TypeError(`Cannot ask "${method}": the request is answered already`);
      return read(await asks.ask(method, dressed, this.#incoming, options?.signal));
    };
    return forgivable(ask());
  }

  #finish(flush: boolean): void {
    this.#meter?.end(flush);
    this.#over = true;
    this.#parts.asks.callOff(this.#incoming, this.#abort?.signal.reason);
    if (this.#stop) this.#incoming.signal.removeEventListener("abort", this.#stop);
  }
}
