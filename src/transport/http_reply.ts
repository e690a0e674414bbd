/**
 * One HTTP exchange: the POST (or the legacy GET), its reply read to the end, and everything that can go wrong with it.
 *
 * @module
 */
import { discard, eachChunk, readBytes, takeText } from "../egress/body.ts";
import {
  ConnectionClosedError,
  LimitExceededError,
  McpError,
  ProtocolViolationError,
  TimeoutError,
} from "../protocol/errors.ts";
import { excerpt } from "../protocol/excerpt.ts";
import { classifyReceived } from "../protocol/json_rpc.ts";
import type { JsonRpcMessage } from "../protocol/json_rpc.ts";
import { parseJson } from "../protocol/limits/json_scan.ts";
import { checkLimit } from "../protocol/limits.ts";
import { closeTime, longestRetry } from "../protocol/limits/times.ts";
import type { CoreLimits, CoreTimeouts } from "../protocol/limits.ts";
import type { Clock, Fetch } from "../ports.ts";
import { egressFetch } from "../egress/fetch.ts";
import { asMcpError, errorText, statusError, withoutSecrets } from "./failure.ts";
import { SseParser } from "./sse.ts";
import type { Exchange, SendOptions } from "./transport.ts";

/** The type of a reply that is a stream of events. */
export const eventStream = "text/event-stream";

/** What a reply knows of its transport. */
export interface HttpContext {
  readonly address: string;
  readonly label: string;
  readonly fetch: Fetch;
  readonly limits: CoreLimits;
  readonly timeouts: CoreTimeouts;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** The replies that are not over. */
  replies: Set<HttpReply>;
  /** How many were read to their end. */
  read: number;
  /** How many answers to questions of the server are on their way. */
  answers: number;
  /** Deno's fetch sends a text again by itself when the connection breaks; what must not run twice goes as a Blob. */
  readonly isDeno: boolean;
  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  batches?: boolean;
  sessionId: string | undefined;
  /** Once it is closed: resolves when the server has heard of it, where it has to. */
  closed?: Promise<void> | true;
}

/** One request and its reply. It ends its exchange exactly once with all it knows. */
export class HttpReply {
  readonly #context: HttpContext;
  readonly #exchange: Exchange | undefined;
  readonly #options: SendOptions | undefined;
  readonly #controller: AbortController | false;
  #answered: boolean | undefined;
  #over: boolean | undefined;
  #messages = 0;
  #eventId: string | undefined;
  #stop: (() => void) | undefined;
  /** The session it was sent in: which may be another one by the time the reply comes. */
  #session: string | undefined;
  constructor(context: HttpContext, exchange?: Exchange, options?: SendOptions) {
    this.#context = context;
    this.#exchange = exchange;
    this.#options = options;
    this.#controller = context.fetch.signal ?? new AbortController();
    context.replies.add(this);
  }

  /**
   * Sends one message and reads its reply; without a message it reads the legacy stream that belongs to no request, or
   * ends the legacy session. What has no answer has no deadline in the session: it gets one here. Never rejects.
   *
   * @param asks An answer is waited for.
   * @param text The message. Without one: GET when it asks, else DELETE.
   */
  async run(asks: boolean, text?: string, method?: string): Promise<void> {
    const context = this.#context;
    const { timeouts, clock, isDeno } = context;
    try {
      if (context.closed) throw new ConnectionClosedError("The client is closed", { delivery: "not-sent" });
      if (!asks) {
        const wait = text ? timeouts.headers : timeouts.close ?? closeTime;
        this.#stop = clock.schedule(() => this.end(new TimeoutError("headers", wait)), wait);
      }
      // It begins a session: one whose answer broke off is not gone on with.
      if (method === "initialize") context.sessionId = undefined;
      const once = isDeno && !context.fetch.once && text && (method === "tools/call" || !method);
      const response = await this.#fetch(text ? "POST" : asks ? "GET" : "DELETE", once ? new Blob([text]) : text);
      if (!response.ok) throw await statusError(response, context, this.#session);
      if (text) this.#exchange?.begin?.();
      // Not the session of an answer that nobody waits for any more.
      if (method === "initialize" && !this.#over) {
        const id = response.headers.get("mcp-session-id") || undefined;
        // None at all passes, by its own name. Gateways put the ids of all that is behind them into one.
        if (!/^[!-~]{1,4096}$/.test(id as string)) {
          discard(response);
          throw new ProtocolViolationError("The session id is not visible ASCII");
        }
        context.sessionId = id;
      }
      if (!asks) discard(response);
      else {
        let stream: SseParser | undefined;
        if (text && isOf(response, "application/json")) {
          this.#take(takeText(await readBytes(response, context.limits.messageBytes, isDeno)));
        } else {
          stream = await this.#read(response, !text || method === "subscriptions/listen");
          if (text && !this.#answered && this.#options?.legacy) await this.#resume(stream);
        }
        if (!this.#answered) {
          throw new ConnectionClosedError(`"${context.label}" gave no answer`, {
            retryable: true,
            // When to come again, and what came last.
            ...stream,
          });
        }
      }
      // V8 keeps what was in the tables that a set has had, once one of them is old. Another set, now and then, has none.
      if (!(++context.read % 1_000)) context.replies = new Set(context.replies);
      // It was read to its end: there is nothing to be called off.
      if (this.#settle()) this.#exchange?.end();
    } catch (error) {
      this.end(asMcpError(error));
    }
  }

  /** Calls it off. Not true when it was over already. */
  cancel(): boolean | undefined {
    return this.#settle(this.#controller) && !this.#answered;
  }

  /** Ends it with a reason that is not the server's doing. */
  end(reason?: McpError): void {
    if (this.#settle(this.#controller)) this.#exchange?.end(reason);
  }

  /** It is over from now on. Not true when it was already. */
  #settle(controller?: AbortController | false): boolean | undefined {
    if (this.#over) return undefined;
    this.#over = true;
    this.#context.replies.delete(this);
    if (controller) controller.abort();
    this.#stop?.();
    return true;
  }

  /** Sends something to the address, with the headers of this exchange. */
  #fetch(method: string, body?: string | Blob): Promise<Response> {
    const { fetch, address, sessionId, headers: usual, redact } = this.#context;
    const { legacy, headers: own } = this.#options ?? {};
    const headers: Record<string, string> = {
      ...usual,
      ...own,
      "accept": (body ? "application/json, " : "") + eventStream,
    };
    if (body) headers["content-type"] = "application/json";
    if (legacy && sessionId) headers["mcp-session-id"] = this.#session = sessionId;
    if (this.#eventId) headers["last-event-id"] = this.#eventId;
    return egressFetch(
      fetch,
      address,
      { body: body as string, method, headers, signal: (this.#controller as AbortController).signal },
      redact,
    );
  }

  /** Reads events to their end; what its parser knows then tells how to go on. */
  async #read(response: Response, endless?: boolean): Promise<SseParser> {
    const linger = 1_000;
    const { limits, label, clock, isDeno, redact } = this.#context;
    if (!isOf(response, eventStream)) {
      throw new ProtocolViolationError(
        `"${label}" answered ${response.status} ${
          redact(response.headers.get("content-type") ?? "nothing")
        }, expected JSON or events: ${excerpt(await errorText(response, this.#context), 200)}`,
      );
    }
    // A page that is there for all paths is no stream.
    this.#exchange?.begin?.();
    const parser = new SseParser(limits.messageBytes, (data, event) => {
      try {
        if (event === "message") this.#take(data);
      } catch (error) {
        // Nobody waits for an answer here, and some servers send heartbeats of their own, which are no JSON-RPC.
        if (!endless || error instanceof LimitExceededError) throw error;
      }
    });
    let seen = 0;
    let stopLinger: (() => void) | undefined;
    try {
      await eachChunk(response, isDeno, (chunk) => {
        if (!endless) checkLimit("streamBytes", limits.streamBytes, seen += chunk.length);
        parser.push(chunk);
        if (this.#answered) stopLinger ??= clock.schedule(() => this.end(), linger);
      }, (cancel) => this.#stop = cancel);
    } catch (error) {
      // A connection that broke in the middle is the end of the stream; a legacy one may be resumed.
      if (error instanceof McpError || error instanceof SyntaxError) throw error;
    } finally {
      stopLinger?.();
    }
    return parser;
  }

  /** Legacy: a stream that ended early but had an event id is polled again (specification 2025-11-25: Resumability). */
  async #resume(stream: SseParser): Promise<void> {
    const shortestRetry = 500;
    let pause = shortestRetry;
    let retryAfter = 1_000;
    for (let left = 0;; left--) {
      retryAfter = stream.retryAfter ?? retryAfter;
      const { lastEventId = "" } = stream;
      // A new id means that the server wants to be polled again, twice; without a message in between it is polled ever more seldom.
      // It is one that can be sent back as a header: with another one a stream cannot be resumed.
      if (this.#eventId !== lastEventId && /^[ -~]{1,4096}$/.test(lastEventId)) {
        this.#eventId = lastEventId;
        left = 2;
      }
      if (left < 1 || this.#answered || this.#over) return;
      const messages = this.#messages;
      await new Promise<void>((resolve) => {
        this.#stop = this.#context.clock.schedule(resolve, Math.max(Math.min(retryAfter, longestRetry), pause));
      });
      try {
        const response = await this.#fetch("GET");
        if (response.ok) stream = await this.#read(response);
        else {
          discard(response);
          // The session is gone, and with it whoever would have answered.
          if (response.status === 404) break;
        }
      } catch (error) {
        // It may fail in any way but these: then the outcome stays as unknown as it was.
        if (error instanceof LimitExceededError || error instanceof ProtocolViolationError) throw error;
      }
      pause = this.#messages === messages ? pause * 1.6 : shortestRetry;
    }
  }

  #take(text: string): void {
    const { limits, batches } = this.#context;
    const value = parseJson(text, limits);
    this.#options?.read?.(text);
    for (const message of [value].flat(batches ? 1 : 0)) {
      const kind = classifyReceived(message);
      if (!kind) throw new ProtocolViolationError("The message is not JSON-RPC");
      if (this.#over) return;
      this.#messages++;
      this.#answered ||= kind === "response";
      this.#exchange?.message(withoutSecrets(message as JsonRpcMessage, this.#context));
    }
  }
}

/** Whether a reply is of this type, whatever its parameters. */
export function isOf({ headers }: Response, type: string): boolean | undefined {
  return headers.get("content-type")?.toLowerCase().startsWith(type);
}
