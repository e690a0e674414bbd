/**
 * WebSocket as a channel: one JSON-RPC message per text frame, subprotocol `mcp`. A custom transport in the words of the
 * specification (transports, Custom Transports): requests are cancelled by `notifications/cancelled`, as on stdio.
 *
 * @module
 */
import { readUrl } from "../egress/url.ts";
import { urlWithoutQuery } from "../egress/redact.ts";
import { ConnectError, ConnectionClosedError, LimitExceededError, McpError } from "../protocol/errors.ts";
import { defaultLimits } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import { subprotocol } from "../protocol/web_socket.ts";
import { systemClock } from "../ports.ts";
import type { Authorizer, Clock, OpenWebSocket, WebSocketLike } from "../ports.ts";
import type { Channel, ChannelReceiver } from "./channel.ts";
import { startInTime } from "./start.ts";

/** Options of {@linkcode createWebSocketChannel}. */
export interface WebSocketOptions {
  /** Opens the socket: from an entry point such as `./workers`, `./bun`, `./deno` or `./node`. */
  openWebSocket: OpenWebSocket;
  /** Adds credentials to the headers, each time that the socket is opened. */
  auth?: Authorizer | undefined;
  /** Headers of the handshake, where the runtime can send them. */
  headers?: Record<string, string> | undefined;
  /** `messageBytes` and `outboxBytes` are used. */
  limits?: Partial<Limits> | undefined;
  /** `start` is used: how long the handshake may take. */
  timeouts?: Partial<Timeouts> | undefined;
  /** Time (the system's). */
  clock?: Clock | undefined;
}

const highWater = 1 << 20;

/**
 * A channel over a WebSocket.
 *
 * @param url A `ws:` or `wss:` URL that the operator gave.
 * @throws {TypeError} When it is another kind of URL, or `auth` has no `headers`.
 */
export function createWebSocketChannel(url: string | URL, options: WebSocketOptions): Channel {
  const text = String(url);
  if (!/^wss?:$/.test(readUrl(text)?.protocol ?? "")) {
    throw new TypeError(`Cannot connect to "${urlWithoutQuery(text)}": expected a ws: or wss: URL`);
  }
  if (options.auth && !options.auth.headers) throw new TypeError('Cannot use "auth" without "headers"');
  return new WebSocketChannel(text, options);
}

class WebSocketChannel implements Channel {
  declare readonly label: string;
  declare readonly address: string;
  readonly #options: WebSocketOptions;
  readonly #clock: Clock;
  #socket: WebSocketLike | undefined;
  #receiver: ChannelReceiver | undefined;
  readonly #opening = new AbortController();
  #closed: boolean | undefined;

  constructor(url: string, options: WebSocketOptions) {
    this.label = urlWithoutQuery(this.address = url);
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  async open(receiver: ChannelReceiver): Promise<void> {
    this.#receiver = receiver;
    const { auth, openWebSocket, headers: usual, timeouts } = this.#options;
    const socket = this.#socket = await startInTime(
      this.#opening,
      this.#clock,
      timeouts,
      async (signal) => {
        const headers = auth ? { ...usual, ...await auth.headers?.(this.address, signal) } : usual;
        return await openWebSocket(this.address, { protocols: [subprotocol], headers, signal }).catch((cause) => {
          if (cause instanceof McpError) throw cause;
          throw new ConnectError(`Cannot connect to "${this.label}"`, { cause, retryable: true });
        });
      },
    );
    socket.addEventListener("message", ({ data }) => this.#message(data));
    socket.addEventListener(
      "close",
      ({ code, reason }) => this.#broke("closed the socket", [code, reason].filter(Boolean).join(" ")),
    );
    socket.addEventListener("error", ({ message }) => this.#broke("broke the socket", message));
    if (this.#closed) socket.close(1000);
  }

  write(messages: readonly string[]): void | Promise<void> {
    const socket = this.#socket;
    if (socket?.readyState !== 1) {
      throw new ConnectionClosedError(`"${this.label}" is not open`, { delivery: "not-sent" });
    }
    for (const text of messages) socket.send(text);
    if (socket.bufferedAmount! > highWater) return this.#drained(socket);
  }

  close(): Promise<void> {
    if (!this.#closed) {
      // The standard lets a client say no other code of the protocol's own.
      if (this.#socket) this.#socket.close(1000);
      else this.#opening.abort();
    }
    this.#closed = true;
    return Promise.resolve();
  }

  #message(data: unknown): void {
    const text = typeof data === "string" ? data : data instanceof ArrayBuffer ? new TextDecoder().decode(data) : "";
    const limit = this.#options.limits?.messageBytes ?? defaultLimits.messageBytes;
    const { length } = text;
    if (length <= limit) return this.#receiver?.text(text);
    void this.close();
    this.#end(new LimitExceededError("limits.messageBytes", limit, length));
  }

  /** There is no event for an empty buffer: look again until it is small enough. */
  async #drained(socket: WebSocketLike): Promise<void> {
    const pause = 20;
    while (socket.bufferedAmount! > highWater && socket.readyState === 1) {
      await new Promise<void>((resolve) => this.#clock.schedule(resolve, pause));
    }
  }

  #broke(what: string, why: string | undefined): void {
    this.#end(
      new ConnectionClosedError(`"${this.label}" ${what}${why ? ` (${this.#options.auth?.redact(why) ?? why})` : ""}`, {
        retryable: true,
      }),
    );
  }

  #end(reason: McpError): void {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.end(reason);
  }
}
