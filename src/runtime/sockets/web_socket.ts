/**
 * Opening a web-standard WebSocket.
 *
 * @module
 */
import type { OpenWebSocket, WebSocketLike } from "../../ports.ts";
import { ConnectError } from "../../protocol/errors.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";

/** A class as the web standard has it; `options` are subprotocols, or an object with them and `headers`. */
export type WebSocketClass = new (url: string, options: unknown) => WebSocketLike;

/**
 * Opens a WebSocket by the runtime's own class. For browsers: it sends no headers.
 *
 * @throws {ConnectError} When there are headers to send, there is no such class, or no connection comes about.
 */
export const openWebSocketPlain: OpenWebSocket = (url, { protocols, headers, signal }) =>
  headers
    ? Promise.reject(new ConnectError('Cannot send "headers": pass "openWebSocket"'))
    : openSocket(url, protocols, signal);

/**
 * Opens a WebSocket by a class.
 *
 * @param options Subprotocols, or an object with them and `headers`.
 * @param WebSocket Default: the runtime's own.
 * @throws {ConnectError} When there is no class or no connection comes about.
 */
export function openSocket(
  url: string,
  options: unknown,
  signal: AbortSignal | undefined,
  WebSocket: WebSocketClass | undefined = (globalThis as { WebSocket?: WebSocketClass }).WebSocket,
): Promise<WebSocketLike> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const shown = urlWithoutQuery(url);
    // The runtime's own words may hold the whole URL, and so its secrets; for the same reason no cause is kept.
    const fail = (words: string): void => {
      const detail = words.replaceAll(url, shown).replace(/[?#][^\s'"]*/g, "").replace(/\/\/[^\s/'"]*@/g, "//");
      reject(new ConnectError(`Cannot open "${shown}": ${detail}`, { retryable: true }));
    };
    if (!WebSocket) {
      throw new ConnectError(`Cannot open "${shown}": use Node 22 or later, or pass "openWebSocket"`);
    }
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(url, options);
    } catch (error) {
      return fail(String(error));
    }
    const abort = (): void => {
      reject(signal?.reason);
      socket.close();
    };
    signal?.addEventListener("abort", abort);
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("error", ({ message }) => fail(message || "it failed"));
    socket.addEventListener("close", ({ code }) => {
      signal?.removeEventListener("abort", abort);
      fail(`closed (${code})`);
    });
  });
}
