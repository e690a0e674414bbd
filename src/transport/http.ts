/**
 * Streamable HTTP, both eras: one POST, one reply (specification: transports, Streamable HTTP).
 *
 * @module
 */
import { urlWithoutQuery } from "../egress/redact.ts";
import { ConnectionClosedError, TimeoutError } from "../protocol/errors.ts";
import type { McpError } from "../protocol/errors.ts";
import type { JsonRpcMessage, RequestId } from "../protocol/json_rpc.ts";
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
  /** `headers` is used for messages that have no answer, `close` for the DELETE of a legacy session. */
  timeouts?: Partial<Timeouts> | undefined;
  /** The clock (the system's). */
  clock?: Clock | undefined;
  /** Takes secrets out of what a server's error body brings into an error (the values of `headers`). */
  redact?: ((text: string) => string) | undefined;
  /** The id of a legacy session to go on with. Secret. */
  sessionId?: string | undefined;
}

/**
 * The HTTP binding. It keeps the legacy session id to itself, resumes legacy streams by `Last-Event-ID`, and turns
 * whatever goes wrong into one `exchange.end` with a typed error.
 */
export class HttpTransport implements Transport {
  readonly kind = "http";
  readonly label: string;
  /** The endpoint's whole URL. */
  readonly address: string;
  readonly #context: HttpContext;
  readonly #timeouts: Timeouts;
  readonly #replies = new Set<HttpReply>();
  #legacy: SendOptions = { legacy: true };
  #closed = false;

  /**
   * @param url The MCP endpoint, as the operator wrote it.
   * @throws {TypeError} When it is not an http: or https: URL, or carries a user name or password.
   */
  constructor(url: string | URL, options: HttpTransportOptions = {}) {
    const { fetch = globalThis.fetch, limits, clock = systemClock, sessionId } = options;
    const { redact = withoutValues(options.headers) } = options;
    this.address = checkedUrl(String(url));
    this.label = urlWithoutQuery(this.address);
    this.#timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.#context = {
      url: this.address,
      label: this.label,
      // Called as a method of an object, some runtimes would refuse the global fetch.
      fetch: (target, init) => fetch(target, init),
      limits: { ...defaultLimits, ...limits },
      clock,
      redact,
      // Deno does, found by measurement on 2.9.5: also a POST, also on a fresh connection.
      repeats: /^Deno/.test(globalThis.navigator?.userAgent),
      byob: true,
      batches: false,
      sessionId,
      headers: {
        ...options.headers,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
      },
    };
  }

  /** The id of the legacy session, once there is one. Secret. */
  get sessionId(): string | undefined {
    return this.#context.sessionId;
  }

  /** Legacy 2025-03-26: arrays of messages are taken apart. */
  set batches(taken: boolean) {
    this.#context.batches = taken;
  }

  send(message: JsonRpcMessage, exchange?: Exchange, options?: SendOptions): Cancel {
    // First of all, since it throws for what is no JSON: then nothing was begun.
    const text = JSON.stringify(message);
    const { id, method } = message as { id?: RequestId; method?: string };
    const isRequest = id !== undefined && method !== undefined;
    const legacy = options?.legacy;
    if (legacy) this.#legacy = options;
    const reply = this.#start(exchange, options, (reply) => {
      return isRequest ? reply.post(text, method) : this.#notice(reply, text, method);
    });
    return (reason) => {
      if (!reply.cancel() || !legacy || !isRequest || method === "initialize") return;
      const params = { requestId: id, reason: reasonText(reason) };
      this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }, undefined, options);
    };
  }

  open(exchange: Exchange, options?: SendOptions): Cancel {
    const reply = this.#start(exchange, options, (reply) => reply.get());
    return () => void reply.cancel();
  }

  restart(): Promise<void> {
    this.#context.sessionId = undefined;
    return Promise.resolve();
  }

  async close(reason?: McpError): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const reply of this.#replies) reply.end(reason ?? new ConnectionClosedError("The client was closed"));
    if (this.sessionId === undefined) return;
    // The session ends with us, whether the server hears of it or not.
    const reply = new HttpReply(this.#context, undefined, this.#legacy);
    const stop = this.#context.clock.schedule(() => reply.cancel(), this.#timeouts.close);
    await reply.delete();
    stop();
    await this.restart();
  }

  /** What has no answer has no deadline of its own in the session: it gets one here. */
  async #notice(reply: HttpReply, text: string, method: string | undefined): Promise<void> {
    const late = new TimeoutError("headers", this.#timeouts.headers);
    const stop = this.#context.clock.schedule(() => reply.end(late), late.milliseconds);
    await reply.notice(text, method);
    stop();
  }

  #start(
    exchange: Exchange | undefined,
    options: SendOptions | undefined,
    run: (reply: HttpReply) => Promise<void>,
  ): HttpReply {
    const reply = new HttpReply(this.#context, exchange, options);
    if (this.#closed) reply.end(new ConnectionClosedError("The client is closed", { delivery: "not-sent" }));
    else {
      this.#replies.add(reply);
      void run(reply).then(() => this.#replies.delete(reply));
    }
    return reply;
  }
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new TypeError(
      `Cannot connect to "${urlWithoutQuery(text)}": expected an http: or https: URL without a user name`,
    );
  }
  url.hash = "";
  return url.href;
}

/** Takes the values of the operator's own headers out of a text: a server may echo them in an error. */
function withoutValues(headers: Readonly<Record<string, string>> = {}): (text: string) => string {
  const secrets = Object.values(headers).flatMap((value) => [value, ...value.split(" ")]).filter(({ length }) =>
    length > 5
  );
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}
