/**
 * One POST of a legacy client that holds requests: answered by JSON, or by a stream that the first message before the
 * answer begins. A client that breaks off has not called anything off (specification 2025-11-25: Streamable HTTP).
 *
 * @module
 */
import type { JsonRpcRequest, JsonRpcResponse } from "../../protocol/json_rpc.ts";
import type { AuthInfo } from "../definitions.ts";
import type { Answer } from "../seam.ts";
import type { ResumableStream } from "./event_store.ts";
import type { HttpSession, RunningRequests } from "./legacy_session.ts";
import { writeMessage } from "../common/write_message.ts";
import { internalError, jsonText, writeAnswer } from "./replies.ts";

/** What an exchange is made of. */
export interface ExchangeOptions {
  readonly session: HttpSession;
  readonly request: Request;
  readonly auth: AuthInfo | undefined;
  readonly messages: readonly JsonRpcRequest[];
  /** The client sent an array, and gets one. */
  readonly isBatch: boolean;
  /** Answers that are there already: for what was no message in a batch. */
  readonly responses?: readonly JsonRpcResponse[];
  /** Headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** All is answered, or called off. */
  readonly over?: () => void;
}

/** Runs the requests of one POST. */
export class LegacyExchange implements RunningRequests {
  /** Never rejects. */
  readonly reply: Promise<Response>;
  readonly asked: Set<unknown> = new Set();
  readonly #options: ExchangeOptions;
  /** Answers that wait for the others: texts of JSON. */
  readonly #texts: string[];
  readonly #abort = new AbortController();
  #resolve: ((response: Response) => void) | undefined;
  #stream: ResumableStream | undefined;
  #stopTimer: (() => void) | undefined;
  #waiting: number;
  #status = 200;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#texts = (options.responses ?? []).map((response) => JSON.stringify(response));
    this.#waiting = options.messages.length;
    this.reply = new Promise((resolve) => this.#resolve = resolve);
    this.#stopTimer = options.session.afterSilence(() => this.#begin());
    for (const message of options.messages) this.#run(message);
  }

  /** Sends a message that belongs to a request of this exchange. False when all are answered. */
  send(message: object): boolean {
    if (!this.#waiting) return false;
    const text = writeMessage(message, this.#options.session.parts);
    if (text === undefined) return true;
    if ("id" in message) this.asked.add(message.id);
    this.#begin();
    this.#stream?.send(text);
    return true;
  }

  /** The session ends: work is called off, and the reply ends without an answer. */
  abort(): void {
    if (!this.#waiting) return;
    this.#waiting = 0;
    this.#abort.abort(new DOMException("The session has ended", "AbortError"));
    this.#finish();
  }

  /** The session ends once this is answered: work that nobody waits for, or that waits for its client, is called off. */
  readonly close = (): void => {
    const { signal } = this.#options.request;
    signal?.addEventListener("abort", this.close);
    if (this.asked.size || !(this.#stream?.connected ?? !signal?.aborted)) this.abort();
  };

  async #run(message: JsonRpcRequest): Promise<void> {
    const { session, auth, request } = this.#options;
    session.began(message.id, this);
    let answer: Answer | undefined;
    try {
      answer = await session.serving.answer({
        message,
        signal: this.#abort.signal,
        auth,
        request,
        notify: (notification) => {
          if (session.isRunning(message.id, this)) this.send(notification);
        },
      });
    } catch (error) {
      session.parts.logger?.({
        level: "error",
        message: "The legacy era failed",
        fields: { method: message.method, error },
      });
      answer = { response: internalError(message.id), status: 500 };
    }
    this.#answered(answer);
    session.ended(message.id);
  }

  /** Turns the reply into a stream. */
  #begin(): void {
    if (this.#stream || !this.#waiting) return;
    this.#stopTimer?.();
    const { session, request, headers } = this.#options;
    const begun = session.openStream(request, headers);
    this.#stream = begun.stream;
    for (const text of this.#texts.splice(0)) this.#stream.send(text);
    this.#resolve?.(begun.response);
  }

  #answered(answer: Answer | undefined): void {
    if (!this.#waiting) return;
    if (answer) {
      const { text, status } = writeAnswer(answer, this.#options.session.parts);
      this.#status = status;
      if (this.#stream) this.#stream.send(text);
      else this.#texts.push(text);
    }
    if (--this.#waiting === 0) this.#finish();
  }

  #finish(): void {
    this.#stopTimer?.();
    const { session, headers, isBatch, over } = this.#options;
    const [first] = this.#texts;
    if (this.#stream) session.closeStream(this.#stream);
    // It was called off: a stream without an answer says so in words of HTTP.
    else if (!first) {
      this.#resolve?.(new Response("", { headers: { "content-type": "text/event-stream", ...headers } }));
    } else if (isBatch) this.#resolve?.(jsonText(`[${this.#texts}]`, 200, headers));
    else this.#resolve?.(jsonText(first, this.#status, headers));
    over?.();
  }
}
