/**
 * One modern request over HTTP: it is answered by one JSON object, or by a stream that its first notification begins
 * (specification 2026-07-28: Streamable HTTP).
 *
 * @module
 */
import type { JsonRpcNotification, JsonRpcRequest } from "../../protocol/json_rpc.ts";
import { writeMessage } from "../common/write_message.ts";
import type { AuthInfo } from "../definitions.ts";
import type { Answer, Incoming, ModernServing, ServerParts } from "../seam.ts";
import { EventStream } from "./event_stream.ts";
import { internalError, jsonText, writeAnswer } from "./replies.ts";

/** What a call is made of. */
export interface ModernCallOptions {
  readonly parts: ServerParts;
  readonly modern: ModernServing;
  /** Silence before a call becomes a stream, and before each comment on it, in milliseconds. */
  readonly keepAlive: number;
  readonly request: Request;
  readonly message: JsonRpcRequest;
  readonly auth: AuthInfo | undefined;
  /** Takes the reply: the first that it is given. */
  readonly reply: (response: Response) => void;
}

/** Runs one request of the modern era. Never throws. */
export function answerModern(options: ModernCallOptions): void {
  new ModernCall(options);
}

class ModernCall implements Incoming {
  readonly message: JsonRpcRequest;
  readonly auth: AuthInfo | undefined;
  readonly #options: ModernCallOptions;
  #stream: EventStream | undefined;
  #abort: AbortController | undefined;
  #stopTimer: (() => void) | undefined;
  /** It was answered, or nobody is there any more who waits for it. */
  #over: boolean | undefined;
  #left = false;
  /** What listens to the request's own signal. Looking at that costs something, and Deno warns once when it is done. */
  #gone: (() => void) | undefined;

  constructor(options: ModernCallOptions) {
    this.#options = options;
    this.message = options.message;
    this.auth = options.auth;
    this.#run();
    this.#watch();
  }

  /** A call that is not answered at once is watched: a timer and a signal for each would cost more than many a tool does. */
  async #watch(): Promise<void> {
    // Turns of the microtask queue that it may take before: handlers that wait for nothing need about eight.
    const promptTurns = 24;
    for (let turn = 0; turn < promptTurns; turn++) {
      if (this.#over || this.#stream) return;
      await undefined;
    }
    if (this.#over || this.#stream) return;
    const { parts, keepAlive } = this.#options;
    this.#stopTimer = parts.clock.schedule(() => this.#begin(), keepAlive, { background: true });
    this.#listen();
  }

  #run(): void {
    const { modern } = this.#options;
    const failed = (error: unknown): void => this.#failed(error);
    modern.answer(this).then((answer) => {
      try {
        this.#answered(answer);
      } catch (error) {
        failed(error);
      }
    }, failed);
  }

  #failed(error: unknown): void {
    const { parts: { logger }, message: { id, method } } = this.#options;
    logger?.({ level: "error", message: "The modern era failed", fields: { method, error } });
    this.#answered({ response: internalError(id), status: 500 });
  }

  get request(): Request {
    return this.#options.request;
  }

  /** Made when it is asked for, which most handlers do not. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      this.#listen();
    }
    if (this.#left) this.#abort.abort(clientGone());
    return this.#abort.signal;
  }

  #listen(): void {
    if (this.#gone || this.#over || this.#stream) return;
    const { signal } = this.#options.request;
    if (signal?.aborted) return this.#leave();
    this.#gone = () => this.#leave();
    signal?.addEventListener("abort", this.#gone);
  }

  over(): boolean {
    return this.#left;
  }

  notify(notification: JsonRpcNotification): void {
    const text = this.#over ? undefined : writeMessage(notification, this.#options.parts);
    if (text === undefined) return;
    this.#begin();
    this.#stream?.send(text);
  }

  /** Turns the reply into a stream. */
  #begin(): void {
    if (this.#over || this.#stream) return;
    this.#stopTimer?.();
    const { parts: { clock, limits }, keepAlive, request } = this.#options;
    this.#unlisten();
    const gone = () => this.#leave();
    this.#stream = new EventStream({ clock, keepAlive, outboxBytes: limits.outboxBytes, request, gone });
    this.#options.reply(this.#stream.response);
  }

  #answered(answer: Answer | undefined): void {
    if (this.#over) return;
    // Without an answer, or to listen, the reply is a stream in any case.
    if (!answer || (this.#options.message.method === "subscriptions/listen" && answer.response.result)) this.#begin();
    const written = answer && writeAnswer(answer, this.#options.parts);
    this.#finish();
    if (written) {
      if (!this.#stream) return this.#options.reply(jsonText(written.text, written.status));
      this.#stream.send(written.text);
    }
    this.#stream?.end();
  }

  /** The client is gone: that calls the request off (specification 2026-07-28: Streamable HTTP, Cancellation). */
  #leave(): void {
    if (this.#over) return;
    this.#finish();
    this.#left = true;
    this.#abort?.abort(clientGone());
    // Nobody reads it, but whoever called the handler waits for one.
    this.#options.reply(new Response(null, { status: 499 }));
  }

  #finish(): void {
    this.#over = true;
    this.#stopTimer?.();
    this.#unlisten();
  }

  #unlisten(): void {
    if (this.#gone) this.#options.request.signal?.removeEventListener("abort", this.#gone);
    this.#gone = undefined;
  }
}

function clientGone(): DOMException {
  return new DOMException("The client is gone", "AbortError");
}
