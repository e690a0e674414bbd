/**
 * Streamable HTTP, both eras: one POST, one reply (specification: transports, Streamable HTTP).
 *
 * @module
 */
import { lowered } from "../protocol/headers.ts";
import { readUrl } from "../egress/url.ts";
import { urlWithoutQuery } from "../egress/redact.ts";
import { HttpReply } from "./http_reply.ts";
import { ConnectionClosedError } from "../protocol/errors.ts";
import type { McpError } from "../protocol/errors.ts";
import type { JsonRpcMessage, JsonRpcRequest } from "../protocol/json_rpc.ts";
import { coreLimits, coreTimeouts, fillIn } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import { systemClock } from "../ports.ts";
import type { Authorizer, Clock, Fetch } from "../ports.ts";
import { reasonText } from "./failure.ts";
import type { HttpContext } from "./http_reply.ts";
import type { Cancel, Exchange, SendOptions, Transport } from "./transport.ts";

/** Options of {@linkcode HttpTransport}. */
export interface HttpTransportOptions {
  /** Puts credentials on the requests, and takes them out of errors: `bearerAuth`, `headerAuth` or `createOAuth`. */
  auth?: Authorizer | undefined;
  /** What sends the requests (the global `fetch`). */
  fetch?: Fetch | undefined;
  /** Headers of every request to this server, such as `Authorization`. They never go to another origin. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** `messageBytes`, `streamBytes`, `jsonDepth` and `jsonNodes` are used. */
  limits?: Partial<Limits> | undefined;
  /** `headers` is used for messages that have no answer, `close` for the DELETE of a legacy session. */
  timeouts?: Partial<Timeouts> | undefined;
  /** The clock (the system's). */
  clock?: Clock | undefined;
  /** Takes secrets out of what a server brings into an error (the values of `headers`). Those of `auth` are taken out besides. */
  redact?: ((text: string) => string) | undefined;
  /** The id of a legacy session to go on with. Secret. */
  sessionId?: string | undefined;
}

/**
 * The HTTP binding. It keeps the legacy session id to itself, resumes legacy streams by `Last-Event-ID`, and turns
 * whatever goes wrong into one `exchange.end` with a typed error.
 */
export class HttpTransport implements Transport {
  /** The family of the binding. */
  readonly kind = "http";
  /** What names the server to people. */
  declare readonly label: string;
  /** The endpoint's whole URL. */
  declare readonly address: string;
  readonly #context: HttpContext;
  /** Legacy: what the session said last of its messages, and so of the DELETE that ends it. */
  legacy: SendOptions = { legacy: true };

  /**
   * Makes a transport; nothing is sent yet.
   *
   * @param url The MCP endpoint, as the operator wrote it.
   * @throws {TypeError} When it is not an http: or https: URL, or carries a user name or password.
   */
  constructor(url: string | URL, options: HttpTransportOptions = {}) {
    const { clock = systemClock, sessionId } = options;
    const parsed = readUrl(url);
    // A user name and a password would stand before an "@".
    if (!/^https?:\/\/[^/@]+\//.test(parsed?.href as string)) {
      throw new TypeError(
        `Cannot connect to "${urlWithoutQuery(url)}": expected an http: or https: URL without a user name`,
      );
    }
    parsed!.hash = "";
    const address = this.address = parsed!.href;
    const label = this.label = urlWithoutQuery(address);
    this.#context = {
      address,
      label,
      ...outlet(address, options),
      limits: fillIn(coreLimits, options.limits),
      timeouts: fillIn(coreTimeouts, options.timeouts),
      clock,
      replies: new Set(),
      read: 0,
      answers: 0,
      // Found by measurement on 2.9.5: also a POST is sent again, also on a fresh connection.
      isDeno: /^Deno/.test(globalThis.navigator?.userAgent),
      sessionId,
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

  /** Sends one message; what comes back goes into the exchange. */
  send(message: JsonRpcMessage, exchange?: Exchange, options?: SendOptions): Cancel {
    // First of all, since it throws for what is no JSON: then nothing was begun.
    const text = JSON.stringify(message);
    const { id, method } = message as Partial<JsonRpcRequest>;
    const legacy = options?.legacy;
    if (legacy) this.legacy = options;
    const context = this.#context;
    // Answers are requests of their own: a server that asks without end would use up what this program may have open, often 1,024.
    if (!method && context.answers > 499) return () => {};
    const reply = new HttpReply(context, exchange, options);
    const asks = id !== undefined && method !== undefined;
    const done = reply.run(asks, text, method);
    if (!method) {
      context.answers++;
      void done.then(() => context.answers--);
    }
    return (reason) => {
      if (!reply.cancel() || !legacy || !asks || method === "initialize") return;
      this.send(
        {
          jsonrpc: "2.0",
          method: "notifications/cancelled",
          params: { requestId: id, reason: reasonText(reason) },
        },
        undefined,
        options,
      );
    };
  }

  /** Legacy: opens the stream that belongs to no request. */
  open(exchange: Exchange, options?: SendOptions): Cancel {
    const reply = new HttpReply(this.#context, exchange, options);
    void reply.run(true);
    return () => reply.cancel();
  }

  /** Ends it, and every exchange on it. Idempotent. */
  async close(reason?: McpError): Promise<void> {
    const context = this.#context;
    if (!context.closed) {
      for (const reply of [...context.replies]) reply.end(reason ?? new ConnectionClosedError("The client is closed"));
      // The session ends with us, whether the server hears of it or not; whoever heard of an end may have closed it meanwhile.
      context.closed ??= context.sessionId ? new HttpReply(context, undefined, this.legacy).run(false) : true;
    }
    await context.closed;
    context.sessionId = undefined;
  }
}

/** What sends requests to a server, with credentials and the operator's own headers, and what takes its secrets out of texts. */
export function outlet(
  server: string,
  { auth, fetch = globalThis.fetch, headers, redact }: HttpTransportOptions,
): Pick<HttpContext, "fetch" | "headers" | "redact"> {
  // In other letters than ours they would be sent beside them. Two of ours are not on each request, and nobody else's either.
  const usual = lowered(headers);
  const clean = redact ?? withoutValues(usual);
  delete usual["content-type"];
  delete usual["mcp-protocol-version"];
  return {
    headers: usual,
    // It is called as a plain function: called as a method of an object, some runtimes would refuse the global fetch.
    fetch: auth?.wrap(fetch, server) ?? fetch,
    redact: (text) => auth?.redact(clean(text)) ?? clean(text),
  };
}

/** Takes the values of the operator's own headers out of a text: a server may echo them in an error. */
function withoutValues(headers: Readonly<Record<string, string>>): (text: string) => string {
  const values = Object.values(headers);
  const secrets = values.concat(values.join(" ").split(/\s/)).filter(({ length }) => length > 5)
    // One that begins like a longer one would leave the rest of that.
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}
