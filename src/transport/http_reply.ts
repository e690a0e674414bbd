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

const linger = 1_000;
const resumptions = 2;
const firstRetry = 1_000;
const shortestRetry = 500;
const longestRetry = 300_000;
const bufferBytes = 65_536;
/** An event id that can be sent back as a header; with another one a stream cannot be resumed. */
const headerSafe = /^[ -~]{1,1024}$/;
const eventStream = "text/event-stream";

/** What a reply knows of its transport. */
export interface HttpContext {
  readonly url: string;
  readonly label: string;
  readonly fetch: Fetch;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  readonly headers: Readonly<Record<string, string>>;
  /** Reads SSE with a reusable buffer where the runtime can; set to false once it cannot. */
  byob: boolean;
  /** The runtime's fetch sends a text again by itself when the connection breaks; what must not run twice goes as a Blob. */
  readonly repeats: boolean;
  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  batches: boolean;
  sessionId: string | undefined;
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
  #stop: (() => void) | undefined;
  #messages = 0;
  #eventId: string | undefined;
  #retry: number | undefined;

  constructor(context: HttpContext, exchange: Exchange | undefined, options: SendOptions | undefined) {
    this.#context = context;
    this.#exchange = exchange;
    this.#options = options;
  }

  /** Sends one request and reads its reply. Never rejects. */
  post(text: string, method: string): Promise<void> {
    this.#endless = method === "subscriptions/listen";
    return this.#run(async () => {
      const response = await this.#send(text, method);
      if (method === "initialize") this.#keepSession(response);
      await this.#read(response);
      await this.#resume();
    });
  }

  /** Sends one message that has no answer. Never rejects. */
  notice(text: string, method: string | undefined): Promise<void> {
    return this.#run(async () => {
      discard(await this.#send(text, method));
      return true;
    });
  }

  /** Legacy: reads the stream that belongs to no request. Never rejects. */
  get(): Promise<void> {
    this.#endless = true;
    return this.#run(() => this.#getStream());
  }

  /** Legacy: ends the session at the server. Never rejects. */
  delete(): Promise<void> {
    return this.#run(async () => {
      discard(await this.#fetch("DELETE"));
    });
  }

  /** Calls it off. False when it was over already. */
  cancel(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#controller.abort();
    this.#stop?.();
    return !this.#answered;
  }

  /** Ends it with a reason that is not the server's doing. */
  end(reason?: McpError): void {
    if (this.#over) return;
    this.cancel();
    this.#exchange?.end(reason);
  }

  /** Runs to the end; unless `work` says that nothing more is expected, an answer should have come. */
  async #run(work: () => Promise<true | void>): Promise<void> {
    try {
      if (await work() || this.#answered) return this.end();
      const { label } = this.#context;
      throw new ConnectionClosedError(`"${label}" ended the reply without an answer`, {
        retryable: true,
        retryAfter: this.#retry,
      });
    } catch (error) {
      this.end(asMcpError(error));
    }
  }

  #send(text: string, method: string | undefined): Promise<Response> {
    const once = this.#context.repeats && (method === "tools/call" || method === undefined);
    return this.#fetch("POST", once ? new Blob([text]) : text);
  }

  /** Sends a request and gives its reply; a status that is no success is thrown. */
  async #fetch(method: string, body?: string | Blob): Promise<Response> {
    const { fetch, url, sessionId } = this.#context;
    const headers: Record<string, string> = { ...this.#context.headers, ...this.#options?.headers };
    if (this.#options?.legacy && sessionId !== undefined) headers["Mcp-Session-Id"] = sessionId;
    if (method === "GET") headers.Accept = eventStream;
    if (this.#eventId !== undefined) headers["Last-Event-ID"] = this.#eventId;
    const init: RequestInit = { method, headers, signal: this.#controller.signal };
    if (body === undefined) delete headers["Content-Type"];
    else init.body = body;
    const response = await egressFetch(fetch, url, init);
    if (!response.ok) return await this.#failed(response);
    this.#exchange?.begin?.();
    return response;
  }

  async #read(response: Response): Promise<void> {
    const type = (response.headers.get("content-type") ?? "").toLowerCase();
    const { limits, redact, label, clock } = this.#context;
    if (type.startsWith(eventStream)) return await this.#readStream(response);
    if (type.startsWith("application/json")) return await this.#take(await readText(response, limits.messageBytes));
    const text = excerpt(redact(await readErrorText(response, clock)).trim(), 200);
    throw new ProtocolViolationError(
      `Cannot read the reply of "${label}" (${response.status}): expected JSON or an event stream, got ${
        text ? `"${type}": ${text}` : "nothing"
      }`,
    );
  }

  async #readStream(response: Response): Promise<void> {
    const { limits, clock } = this.#context;
    let busy: Promise<unknown> | undefined;
    const parser = new SseParser(limits.messageBytes, (data, event) => {
      const taken = event === "message" && this.#take(data);
      if (taken) busy = busy ? Promise.all([busy, taken]) : taken;
    });
    let rest = this.#endless ? Infinity : limits.streamBytes;
    let stopLinger: (() => void) | undefined;
    const read = this.#reader(response);
    try {
      for (let chunk = await read(); chunk; chunk = await read()) {
        rest -= chunk.byteLength;
        if (rest < 0) throw new LimitExceededError("limits.streamBytes", limits.streamBytes, limits.streamBytes - rest);
        parser.push(chunk);
        const { lastEventId } = parser;
        if (lastEventId && headerSafe.test(lastEventId)) this.#eventId = lastEventId;
        this.#retry = parser.retry ?? this.#retry;
        if (busy) await busy;
        busy = undefined;
        if (this.#answered) stopLinger ??= clock.schedule(() => this.end(), linger);
      }
    } catch (error) {
      // A connection that broke in the middle is the end of the stream; a legacy one may be resumed.
      if (error instanceof McpError || error instanceof SyntaxError) throw error;
    } finally {
      stopLinger?.();
    }
  }

  /** Reads chunk by chunk, into one buffer again and again where the runtime can do that (it is far cheaper on Deno). */
  #reader({ body }: Response): () => Promise<Uint8Array | undefined> {
    if (!body) return () => Promise.resolve(undefined);
    try {
      if (this.#context.byob) {
        const reader = body.getReader({ mode: "byob" });
        let buffer = new ArrayBuffer(bufferBytes);
        this.#stop = () => void reader.cancel().catch(nothing);
        return async () => {
          const { value } = await reader.read(new Uint8Array(buffer));
          if (value?.length) buffer = value.buffer;
          return value?.length ? value : undefined;
        };
      }
    } catch {
      this.#context.byob = false;
    }
    const reader = body.getReader();
    this.#stop = () => void reader.cancel().catch(nothing);
    return async () => (await reader.read()).value;
  }

  #take(text: string): Promise<void> | void {
    const value = parseJson(text, this.#context.limits);
    if (!Array.isArray(value) || !this.#context.batches) return this.#dispatch(value);
    for (const item of value) void this.#dispatch(item);
  }

  #dispatch(value: unknown): Promise<void> | void {
    const kind = classify(value);
    if (!kind) throw new ProtocolViolationError("The reply is no JSON-RPC message: expected one result or one error");
    if (this.#over) return;
    this.#messages++;
    if (kind === "response") this.#answered = true;
    return this.#exchange?.message(value as JsonRpcMessage);
  }

  /** Legacy: a stream that ended early but had an event id is polled again (specification 2025-11-25: Resumability). */
  async #resume(): Promise<void> {
    const { clock } = this.#context;
    let pause = shortestRetry;
    for (let left = this.#options?.legacy ? resumptions : 0; left > 0 && this.#eventId !== undefined; left--) {
      if (this.#answered || this.#over) return;
      const eventId = this.#eventId;
      const messages = this.#messages;
      await new Promise<void>((resolve) => {
        const asked = Math.min(Math.max(this.#retry ?? firstRetry, shortestRetry), longestRetry);
        const stop = clock.schedule(resolve, Math.max(asked, pause));
        this.#stop = () => {
          stop();
          resolve();
        };
      });
      if (!this.#over) await this.#getStream().catch(ifHostile);
      // A new id means that the server wants to be polled again; without a message in between it is polled ever more seldom.
      if (this.#eventId !== eventId) left = resumptions + 1;
      pause = this.#messages === messages ? pause * 1.6 : shortestRetry;
    }
  }

  async #getStream(): Promise<void> {
    const response = await this.#fetch("GET");
    if (response.headers.get("content-type")?.toLowerCase().startsWith(eventStream)) {
      return await this.#readStream(response);
    }
    discard(response);
    throw new ProtocolViolationError(`Cannot listen to "${this.#context.label}": expected an event stream`);
  }

  #keepSession(response: Response): void {
    const id = response.headers.get("mcp-session-id");
    if (id !== null && !/^[!-~]{1,1024}$/.test(id)) {
      discard(response);
      throw new ProtocolViolationError("Cannot use the session id: expected 1 to 1,024 visible ASCII characters");
    }
    this.#context.sessionId = id ?? undefined;
  }

  /** Turns a status that is no success into the error that says what it means. */
  async #failed(response: Response): Promise<never> {
    const { status, headers } = response;
    const { label, redact, sessionId, clock } = this.#context;
    const text = redact(await readErrorText(response, clock)).trim();
    if (status === 404 && this.#options?.legacy && sessionId !== undefined) {
      throw new SessionLostError(`"${label}" does not know the session any more`);
    }
    const message = `"${label}" answered ${status}${text && ": " + excerpt(text, 200)}`;
    if (status === 401 || status === 403) {
      throw new UnauthorizedError(message, { status, challenge: redact(headers.get("www-authenticate") ?? "") });
    }
    const error = answeredError(text);
    if (error) throw errorFromAnswer(error, { status });
    const busy = status === 429;
    throw new HttpStatusError(message, {
      status,
      body: excerpt(text),
      retryAfter: retryAfter(headers.get("retry-after"), clock.now()),
      retryable: busy || status > 499,
      delivery: busy ? "not-sent" : status > 499 ? "unknown" : "answered",
    });
  }
}

/** The JSON-RPC error in an error's body, if there is one. Its id may be missing. */
function answeredError(text: string): JsonRpcError | undefined {
  try {
    const { error } = JSON.parse(text);
    return isObject(error) && Number.isInteger(error.code) && typeof error.message === "string"
      ? error as unknown as JsonRpcError
      : undefined;
  } catch {
    return undefined;
  }
}

/** `Retry-After` (seconds or a date) in milliseconds, clamped to 0…60,000; undefined when it is absent or unreadable. */
function retryAfter(header: string | null, now: number): number | undefined {
  const milliseconds = /^\d+$/.test(header ?? "") ? Number(header) * 1_000 : Date.parse(header ?? "") - now;
  return Number.isNaN(milliseconds) ? undefined : Math.min(Math.max(milliseconds, 0), 60_000);
}

/** A try to resume may fail in any way but these: then the outcome stays as unknown as it was. */
function ifHostile(error: unknown): void {
  if (error instanceof LimitExceededError || error instanceof ProtocolViolationError) throw error;
}

function nothing(): void {}
