/**
 * Opening a WebSocket with headers, where the runtime takes them.
 *
 * @module
 */
import type { OpenWebSocket, WebSocketLike } from "../../ports.ts";
import { ConnectError } from "../../protocol/errors.ts";
import { urlWithoutQuery } from "../../protocol/excerpt.ts";
import { readHeaders } from "../headers.ts";
import { openSocket } from "./web_socket.ts";
import type { WebSocketClass } from "./web_socket.ts";

/**
 * Opens a WebSocket by the runtime's own class, with headers, as Bun, Deno and Node (22 and later) take them.
 *
 * @throws {ConnectError} When there is no such class, a header cannot be sent, or no connection comes about.
 */
export const openWebSocketWithHeaders: OpenWebSocket = (url, asked) => {
  const { protocols, headers } = asked;
  return openSocketWith(url, headers ? { protocols, headers } : protocols, asked);
};

/**
 * As {@linkcode openSocket}, once it is known that the headers can be sent.
 *
 * @throws {ConnectError} As {@linkcode openWebSocketWithHeaders}.
 */
export function openSocketWith(
  url: string,
  options: unknown,
  { headers, signal }: Parameters<OpenWebSocket>[1],
  WebSocket?: WebSocketClass,
): Promise<WebSocketLike> {
  try {
    readHeaders(headers);
  } catch (cause) {
    const { message } = cause as TypeError;
    return Promise.reject(new ConnectError(`Cannot open "${urlWithoutQuery(url)}": ${message}`, { cause }));
  }
  // Nothing is awaited here: a server may speak at once, and who opened it has to listen by then.
  const opening = openSocket(url, options, signal, WebSocket);
  // So this is looked at beside it, before who waits hears of it. No runtime gives a code, and the address may have the word, too.
  opening.catch((error) => {
    const isUntrusted = error instanceof ConnectError && /[a-z:] certificate([ ;':]|$)/.test(error.message);
    if (isUntrusted) error.retryable = false;
  });
  return opening;
}
