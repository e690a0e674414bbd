/**
 * Streamable HTTP, both eras: one POST, one reply (specification: transports, Streamable HTTP).
 *
 * @module
 */
import { egressFetch, label } from "../egress/fetch.ts";
import { ConnectionClosedError, HttpStatusError } from "../protocol/errors.ts";
import type { McpError } from "../protocol/errors.ts";
import type { JsonObject, JsonRpcMessage } from "../protocol/json_rpc.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import { systemClock } from "../ports.ts";
import type { Clock, Fetch } from "../ports.ts";
import { reasonText } from "./failure.ts";
import { HttpReply } from "./http_reply.ts";
import type { HttpContext } from "./http_reply.ts";
import type { Cancel, Exchange, SendOptions, Transport } from "./transport.ts";

/** Options of {@linkcode HttpTransport}. */
export interface HttpTransportOptions {
  /** What sends the requests (the global `fetch`). Middleware such as authorization wraps it. */
  fetch?: Fetch | undefined;
  /** Headers of every request to this server, such as `Authorization`. They never go to another origin. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** `messageBytes`, `streamBytes`, `jsonDepth` and `jsonNodes` are used. */
  limits?: Partial<Limits> | undefined;
  /** `close` is used: how long the DELETE of a legacy session may take. */
  timeouts?: Partial<Timeouts> | undefined;
  /** The clock (the system's). */
  clock?: Clock | undefined;
  /** Takes secrets out of what a server's error body brings into an error. */
  redact?: ((text: string) => string) | undefined;
  /** The id of a legacy session to go on with. Secret. */
  sessionId?: string | undefined;
}

/**
 * The HTTP binding. It keeps the legacy session id to itself, resumes legacy streams by `Last-Event-ID`, and turns
 * whatever goes wrong into one `exchange.end` with a typed error.
 */
export class HttpTransport implements Transport, HttpContext {
  readonly kind = "http";
  readonly url: string;
  readonly label: string;
  readonly fetch: Fetch;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly redact: (text: string) => string;
  byob = true;
  batches = false;
  sessionId: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #closeTimeout: number;
  readonly #replies = new Set<HttpReply>();
  #legacy: SendOptions | undefined;
  #closed = false;

  /**
   * @param url The MCP endpoint, as the operator wrote it.
   * @throws {TypeError} When it is not an http: or https: URL, or carries a user name or password.
   */
  constructor(url: string | URL, options: HttpTransportOptions = {}) {
    this.url = checkedUrl(url);
    this.label = label(this.url);
    // A bare reference: called as a method of this object, some runtimes would refuse the global fetch.
    const { fetch = globalThis.fetch } = options;
    this.fetch = (target, init) => fetch(target, init);
    this.limits = { ...defaultLimits, ...options.limits };
    this.clock = options.clock ?? systemClock;
    this.redact = options.redact ?? same;
    this.sessionId = options.sessionId;
    this.#headers = {
      ...options.headers,
      "Content-Type": "application/json",
      "Accept": "application/json, text/event-stream",
    };
    this.#closeTimeout = options.timeouts?.close ?? defaultTimeouts.close;
  }

  /** The endpoint's whole URL. */
  get address(): string {
    return this.url;
  }

  headers(options: SendOptions | undefined): Record<string, string> {
    const headers = { ...this.#headers, ...options?.headers };
    if (options?.legacy && this.sessionId !== undefined) headers["Mcp-Session-Id"] = this.sessionId;
    return headers;
  }

  send(message: JsonRpcMessage, exchange?: Exchange, options?: SendOptions): Cancel {
    if (this.#closed) {
      exchange?.end(closed("not-sent"));
      return same;
    }
    if (options?.legacy && options.headers) this.#legacy = options;
    const reply = this.#track(new HttpReply(this, exchange, options));
    const isRequest = "method" in message && "id" in message;
    void reply.post(message, isRequest).finally(() => this.#replies.delete(reply));
    return (reason) => {
      if (!reply.cancel() || !options?.legacy || !isRequest || message.method === "initialize") return;
      this.#notify("notifications/cancelled", { requestId: message.id, reason: reasonText(reason) }, options);
    };
  }

  open(exchange: Exchange, options?: SendOptions): Cancel {
    const reply = this.#track(new HttpReply(this, exchange, options));
    void reply.get().finally(() => this.#replies.delete(reply));
    return () => void reply.cancel();
  }

  restart(): Promise<void> {
    this.sessionId = undefined;
    return Promise.resolve();
  }

  async close(reason?: McpError): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const reply of this.#replies) reply.end(reason ?? closed("unknown"));
    if (this.sessionId !== undefined) await this.#deleteSession();
  }

  #track(reply: HttpReply): HttpReply {
    this.#replies.add(reply);
    return reply;
  }

  #notify(method: string, params: JsonObject, options: SendOptions): void {
    const { "Mcp-Method": _, ...headers } = options.headers ?? {};
    this.send({ jsonrpc: "2.0", method, params }, undefined, { ...options, headers });
  }

  /** Tells the server that its session is over; a server that does not care (405, anything) is left alone. */
  async #deleteSession(): Promise<void> {
    const controller = new AbortController();
    const stop = this.clock.schedule(() => controller.abort(), this.#closeTimeout);
    const { "Content-Type": _, ...headers } = this.headers(this.#legacy ?? { legacy: true });
    this.sessionId = undefined;
    try {
      const init = { method: "DELETE", headers, signal: controller.signal };
      await (await egressFetch(this.fetch, this.url, init)).body?.cancel();
    } catch {
      // The session ends with us, whether the server has heard it or not.
    } finally {
      stop();
    }
  }
}

/** The error for a legacy GET that the server does not offer. */
export function isNoStream(error: unknown): boolean {
  return error instanceof HttpStatusError && (error.status === 405 || error.status === 404 || error.status === 501);
}

function checkedUrl(url: string | URL): string {
  const text = String(url);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (!parsed || (parsed.protocol !== "http:" && parsed.protocol !== "https:")) {
    throw new TypeError(`Cannot use "${label(text)}" as a server's address: expected an http: or https: URL`);
  }
  if (parsed.username || parsed.password) {
    throw new TypeError(`Cannot use "${label(text)}" with a user name in it: send credentials as a header instead`);
  }
  parsed.hash = "";
  return parsed.href;
}

function closed(delivery: "not-sent" | "unknown"): McpError {
  return new ConnectionClosedError("The client is closed", { delivery });
}

function same<Value>(value: Value): Value {
  return value;
}
