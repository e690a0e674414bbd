/**
 * WebSocket as a channel: one JSON-RPC message per text frame, subprotocol `mcp`. A custom transport in the words of the
 * specification (transports, Custom Transports): requests are cancelled by `notifications/cancelled`, as on stdio.
 *
 * @module
 */
import { urlWithoutQuery } from "../egress/redact.ts";
import { ConnectError, ConnectionClosedError, LimitExceededError, McpError, TimeoutError } from "../protocol/errors.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import { systemClock } from "../ports.ts";
import type { Clock, OpenWebSocket, WebSocketLike } from "../ports.ts";
import type { Channel } from "./channel.ts";

/** Options of {@linkcode createWebSocketChannel}. */
export interface WebSocketOptions {
  /** Opens the socket: from an entry point such as `./workers`, `./bun`, `./deno` or `./node`. */
  openWebSocket: OpenWebSocket;
  /** Headers of the handshake, where the runtime can send them. */
  headers?: Record<string, string> | undefined;
  /** `messageBytes` and `outboxBytes` are used. */
  limits?: Partial<Limits> | undefined;
  /** `start` is used: how long the handshake may take. */
  timeouts?: Partial<Timeouts> | undefined;
  clock?: Clock | undefined;
}

const drainPause = 20;
const highWater = 1 << 20;
const tooBig = 1009;

/**
 * A channel over a WebSocket.
 *
 * @param url A `ws:` or `wss:` URL that the operator gave.
 * @throws {TypeError} When it is another kind of URL.
 */
export function createWebSocketChannel(url: string | URL, options: WebSocketOptions): Channel {
  const address = String(url);
  const label = urlWithoutQuery(address);
  if (!URL.canParse(address) || !/^wss?:$/.test(new URL(address).protocol)) {
    throw new TypeError(`Cannot connect to "${label}": expected a ws: or wss: URL`);
  }
  const { openWebSocket, headers, clock = systemClock } = options;
  const limit = options.limits?.messageBytes ?? defaultLimits.messageBytes;
  let socket: WebSocketLike | undefined;
  let closed = false;

  const close = (code: number): void => {
    if (!closed) socket?.close(code);
    closed = true;
  };

  return {
    label,
    async open(receiver) {
      const opened = socket = await connect();
      let over = false;
      const end = (reason: McpError): void => {
        if (!over) receiver.end(reason);
        over = true;
      };
      const broke = (what: string, why: unknown): void =>
        end(new ConnectionClosedError(`"${label}" ${what}${why ? ` (${why})` : ""}`, { retryable: true }));
      opened.addEventListener("message", ({ data }) => {
        const text = data instanceof ArrayBuffer
          ? new TextDecoder().decode(data)
          : typeof data === "string"
          ? data
          : "";
        if (over) return;
        if (text.length <= limit) return receiver.text(text);
        close(tooBig);
        end(new LimitExceededError("limits.messageBytes", limit, text.length));
      });
      opened.addEventListener(
        "close",
        ({ code, reason }) => broke("closed the socket", [code, reason].filter(Boolean).join(" ")),
      );
      opened.addEventListener("error", ({ message }) => broke("broke the socket", message));
      if (closed) opened.close(1000);
    },
    write(messages) {
      if (socket?.readyState !== 1) {
        throw new ConnectionClosedError(`The socket to "${label}" is not open`, { delivery: "not-sent" });
      }
      for (const text of messages) socket.send(text);
      if ((socket.bufferedAmount ?? 0) > highWater) return drained(socket);
    },
    close() {
      close(1000);
      return Promise.resolve();
    },
  };

  async function connect(): Promise<WebSocketLike> {
    const controller = new AbortController();
    const { signal } = controller;
    const milliseconds = options.timeouts?.start ?? defaultTimeouts.start;
    const late = new TimeoutError("start", milliseconds, { delivery: "not-sent" });
    const stop = clock.schedule(() => controller.abort(late), milliseconds);
    try {
      return await openWebSocket(address, { protocols: ["mcp"], headers, signal });
    } catch (cause) {
      if (signal.aborted) throw late;
      if (cause instanceof McpError) throw cause;
      throw new ConnectError(`Cannot open a WebSocket to "${label}"`, { cause, delivery: "not-sent", retryable: true });
    } finally {
      stop();
    }
  }

  /** There is no event for an empty buffer: look again until it is small enough. */
  async function drained(socket: WebSocketLike): Promise<void> {
    while ((socket.bufferedAmount ?? 0) > highWater && socket.readyState === 1) {
      await new Promise<void>((resolve) => clock.schedule(resolve, drainPause));
    }
  }
}
