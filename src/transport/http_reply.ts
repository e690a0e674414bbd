/**
 * One HTTP exchange: the POST (or the legacy GET), its reply read to the end, and everything that can go wrong with it.
 *
 * @module
 */
import { discard, excerpt, readErrorText, readText } from "../egress/body.ts";
import { egressFetch } from "../egress/fetch.ts";
import {
  ConnectionClosedError,
  errorFromAnswer,
  HttpStatusError,
  LimitExceededError,
  McpError,
  ProtocolViolationError,
  SessionLostError,
  UnauthorizedError,
} from "../protocol/errors.ts";
import { classify, isObject } from "../protocol/json_rpc.ts";
import type { JsonRpcError, JsonRpcMessage } from "../protocol/json_rpc.ts";
import { parseJson } from "../protocol/json_scan.ts";
import type { Limits } from "../protocol/limits.ts";
import type { Clock, Fetch } from "../ports.ts";
import { asMcpError } from "./failure.ts";
import { SseParser } from "./sse.ts";
import type { Exchange, SendOptions } from "./transport.ts";

const lingerMilliseconds = 1_000;
const resumptions = 2;
const bufferBytes = 65_536;

/** What a reply needs to know of its transport. */
export interface HttpContext {
  readonly url: string;
  readonly label: string;
  readonly fetch: Fetch;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  /** Reads SSE with a reusable buffer where the runtime can; set to false once it cannot. */
  byob: boolean;
  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  batches: boolean;
  sessionId: string | undefined;
  /** The headers of every request: the operator's, the session's and the given ones. */
  headers(options: SendOptions | undefined): Record<string, string>;
}

/** One request and its reply. It ends its exchange exactly once with all it knows. */
export class HttpReply {
  readonly #context: HttpContext;
  readonly #exchange: Exchange | undefined;
  readonly #options: SendOptions | undefined;
  readonly #controller = new AbortController();
  #answered = false;
  #over = false;
  #endless = false;
  #pause: (() => void) | undefined;
  #closeBody: (() => void) | undefined;
  #eventId: string | undefined;
  #retry: number | undefined;

  constructor(context: HttpContext, exchange: Exchange | undefined, options: SendOptions | undefined) {
    this.#context = context;
    this.#exchange = exchange;
    this.#options = options;
  }

  /** Sends one message and reads its reply. Never rejects. */
  async post(message: JsonRpcMessage, isRequest: boolean): Promise<void> {
    const { method } = message as { method?: string };
    this.#endless = method === "subscriptions/listen";
    const initialize = method === "initialize";
    try {
      const response = await this.#fetch({ method: "POST", body: JSON.stringify(message) });
      this.#exchange?.begin?.();
      if (!response.ok) await this.#failed(response);
      else if (initialize && this.#options?.legacy) this.#keepSession(response);
      if (!isRequest) {
        discard(response);
        return this.end();
      }
      await this.#read(response);
      await this.#resume();
      this.end(this.#brokenOff());
    } catch (error) {
      this.end(asMcpError(error));
    }
  }

  /** Legacy: reads the stream that belongs to no request. Never rejects. */
  async get(): Promise<void> {
    this.#endless = true;
    try {
      await this.#getStream();
      this.end(this.#brokenOff());
    } catch (error) {
      this.end(asMcpError(error));
    }
  }

  /** Calls it off. False when it was over already. */
  cancel(): boolean {
    if (this.#over) return false;
    const running = !this.#answered;
    this.#stop();
    return running;
  }

  /** Ends it with a reason that is not the server's doing. */
  end(reason?: McpError): void {
    if (this.#over) return;
    this.#stop();
    this.#exchange?.end(reason);
  }

  /** Ends all that is still going on: a wait, the request, the body. */
  #stop(): void {
    this.#over = true;
    this.#pause?.();
    this.#controller.abort();
    this.#closeBody?.();
  }

  #fetch(init: RequestInit): Promise<Response> {
    const { fetch, url } = this.#context;
    init.headers ??= this.#context.headers(this.#options);
    init.signal = this.#controller.signal;
    return egressFetch(fetch, url, init);
  }

  async #read(response: Response): Promise<void> {
    const type = response.headers.get("content-type") ?? "";
    if (type.startsWith("text/event-stream")) return await this.#readStream(response);
    const { limits } = this.#context;
    if (!type.startsWith("application/json")) {
      const text = excerpt(this.#context.redact(await readErrorText(response))).trim();
      const got = text ? `"${type}": ${text.slice(0, 200)}` : "nothing";
      throw new ProtocolViolationError(
        `Cannot read the reply of "${this.#context.label}" (${response.status}): expected JSON or an event stream, got ${got}`,
      );
    }
    await this.#take(await readText(response, limits.messageBytes));
  }

  async #readStream(response: Response): Promise<void> {
    const { limits, clock } = this.#context;
    let busy: Promise<void> | undefined;
    const parser = new SseParser(limits.messageBytes, (data, event) => {
      if (event && event !== "message") return;
      const taken = this.#take(data);
      if (taken) busy = busy ? Promise.all([busy, taken]).then(nothing) : taken;
    });
    let rest = this.#endless ? Infinity : limits.streamBytes;
    let stopLinger: (() => void) | undefined;
    const reader = this.#reader(response);
    try {
      for (;;) {
        const chunk = await reader();
        if (!chunk) return parser.end();
        if ((rest -= chunk.byteLength) < 0) {
          throw new LimitExceededError("limits.streamBytes", limits.streamBytes, limits.streamBytes - rest);
        }
        parser.push(chunk);
        this.#eventId = parser.lastEventId ?? this.#eventId;
        this.#retry = parser.retry ?? this.#retry;
        if (busy) {
          await busy;
          busy = undefined;
        }
        if (this.#answered) stopLinger ??= clock.schedule(() => this.end(), lingerMilliseconds);
      }
    } catch (error) {
      if (error instanceof McpError || error instanceof SyntaxError || this.#answered) throw error;
      // The connection broke in the middle: that is the end of the stream, and a legacy one may be resumed.
    } finally {
      stopLinger?.();
    }
  }

  /** Reads chunk by chunk, into one buffer again and again where the runtime can do that (it is far cheaper on Deno). */
  #reader(response: Response): () => Promise<Uint8Array | undefined> {
    const { body } = response;
    if (!body) return () => Promise.resolve(undefined);
    if (this.#context.byob) {
      try {
        const reader = body.getReader({ mode: "byob" });
        this.#closeBody = () => void reader.cancel().catch(nothing);
        let buffer = new ArrayBuffer(bufferBytes);
        return async () => {
          const { done, value } = await reader.read(new Uint8Array(buffer));
          if (done || !value) return undefined;
          buffer = value.buffer;
          return value;
        };
      } catch {
        this.#context.byob = false;
      }
    }
    const reader = body.getReader();
    this.#closeBody = () => void reader.cancel().catch(nothing);
    return async () => (await reader.read()).value;
  }

  #take(text: string): Promise<void> | undefined {
    const value = parseJson(text, this.#context.limits);
    if (Array.isArray(value) && this.#context.batches && this.#options?.legacy) {
      let taken: Promise<void> | undefined;
      for (const item of value) taken = this.#dispatch(item) ?? taken;
      return taken;
    }
    return this.#dispatch(value);
  }

  #dispatch(value: unknown): Promise<void> | undefined {
    const kind = classify(value);
    if (!kind) throw new ProtocolViolationError("The reply is no JSON-RPC message: expected a result or an error");
    if (this.#over) return undefined;
    if (kind === "response") this.#answered = true;
    return this.#exchange?.message(value as JsonRpcMessage) ?? undefined;
  }

  /** Legacy: a stream that ended early but had an event id is polled again (specification 2025-11-25: Resumability). */
  async #resume(): Promise<void> {
    const resumable = this.#options?.legacy;
    for (
      let left = resumptions;
      resumable && !this.#answered && !this.#over && this.#eventId !== undefined && left > 0;
    ) {
      const before = this.#eventId;
      await this.#wait(Math.min(Math.max(this.#retry ?? 1_000, 500), 300_000));
      if (this.#over) return;
      await this.#getStream();
      left = this.#eventId === before ? left - 1 : resumptions;
    }
  }

  async #getStream(): Promise<void> {
    const { "Content-Type": _, ...headers } = this.#context.headers(this.#options);
    headers.Accept = "text/event-stream";
    if (this.#eventId !== undefined) headers["Last-Event-ID"] = this.#eventId;
    const response = await this.#fetch({ method: "GET", headers });
    if (!response.ok) return await this.#failed(response);
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      discard(response);
      throw new ProtocolViolationError(`Cannot listen to "${this.#context.label}": expected an event stream`);
    }
    this.#exchange?.begin?.();
    await this.#readStream(response);
  }

  #wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#context.clock.schedule(resolve, milliseconds);
      this.#pause = () => {
        stop();
        resolve();
      };
    });
  }

  #keepSession(response: Response): void {
    const id = response.headers.get("mcp-session-id");
    if (id === null) return;
    if (!/^[\x21-\x7e]{1,1024}$/.test(id)) {
      discard(response);
      throw new ProtocolViolationError(
        `Cannot use the session id of "${this.#context.label}": expected 1 to 1,024 visible ASCII characters`,
      );
    }
    this.#context.sessionId = id;
  }

  /** Turns a status that is no success into the error that says what it means. */
  async #failed(response: Response): Promise<never> {
    const { status, headers } = response;
    const { label, redact } = this.#context;
    const hadSession = this.#options?.legacy && this.#context.sessionId !== undefined;
    const text = redact(await readErrorText(response));
    if (status === 404 && hadSession) {
      throw new SessionLostError(`"${label}" does not know the session any more`, { delivery: "not-sent" });
    }
    if (status === 401 || status === 403) {
      const challenge = headers.get("www-authenticate") ?? "";
      throw new UnauthorizedError(
        status === 401 ? `"${label}" asks for authorization` : `"${label}" forbids this request`,
        { status, challenge: redact(challenge) },
      );
    }
    const error = answeredError(text);
    if (error) throw errorFromAnswer(error, { status });
    throw new HttpStatusError(`"${label}" answered ${status}${text ? `: ${excerpt(text.trim()).slice(0, 200)}` : ""}`, {
      status,
      body: excerpt(text),
      retryAfter: retryAfter(headers.get("retry-after"), this.#context.clock.now()),
      retryable: status === 429 || status >= 500,
      delivery: status === 429 ? "not-sent" : status >= 500 ? "unknown" : "answered",
    });
  }

  #brokenOff(): McpError | undefined {
    if (this.#answered) return undefined;
    const error = new ConnectionClosedError(`"${this.#context.label}" ended the reply without an answer`, {
      retryable: true,
    });
    error.retryAfter = this.#retry;
    return error;
  }
}

/** The JSON-RPC error in an error's body, if there is one. Its id may be missing. */
function answeredError(text: string): JsonRpcError | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || !isObject(value.error)) return undefined;
    const { code, message } = value.error;
    return Number.isInteger(code) && typeof message === "string" ? value.error as unknown as JsonRpcError : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` (seconds or a date) in milliseconds, clamped to 0…60,000; undefined when it is absent or unreadable. */
function retryAfter(header: string | null, now: number): number | undefined {
  if (!header) return undefined;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(milliseconds) ? undefined : Math.min(Math.max(milliseconds, 0), 60_000);
}

function nothing(): void {}
