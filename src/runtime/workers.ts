/**
 * The ports filled with what Cloudflare Workers have.
 *
 * @module
 */
import type { Fetch, OpenWebSocket, WebSocketLike } from "../ports.ts";
import { ConnectError } from "../protocol/errors.ts";
import { urlWithoutQuery } from "../protocol/excerpt.ts";
import { subprotocol } from "../protocol/web_socket.ts";

/** The runtime's own `fetch`, with a name. */
export const namedFetch: Fetch = (url, init) => fetch(url, { ...init, headers: withName(init.headers) });

/** A WebSocket that came out of a `fetch`. */
interface AcceptableWebSocket extends WebSocketLike {
  accept(): void;
}

/**
 * Opens a WebSocket by `fetch` with `Upgrade: websocket`, the way that lets a Worker send headers.
 *
 * @throws {ConnectError} When no connection comes about or the server does not upgrade.
 */
export const openWebSocket: OpenWebSocket = async (url, { protocols, headers, signal }) => {
  const all = withName(headers);
  all.set("Upgrade", "websocket");
  if (protocols.length > 0) all.set("Sec-WebSocket-Protocol", protocols.join(", "));
  const failed = (detail: string, cause?: unknown) =>
    new ConnectError(`Cannot open "${urlWithoutQuery(url)}": ${detail}`, {
      cause,
      delivery: "not-sent",
      retryable: true,
    });
  let response: Response & { webSocket?: AcceptableWebSocket | null };
  try {
    response = await fetch(url.replace(/^ws/i, "http"), { headers: all, signal: signal ?? null, redirect: "manual" });
  } catch (cause) {
    signal?.throwIfAborted();
    throw failed(cause instanceof Error ? cause.message : String(cause), cause);
  }
  const socket = response.webSocket;
  if (!socket) {
    void response.body?.cancel().catch(() => {});
    throw failed(`the server answered ${response.status} instead of upgrading`);
  }
  socket.accept();
  const abort = () => socket.close();
  signal?.addEventListener("abort", abort, { once: true });
  socket.addEventListener("close", () => signal?.removeEventListener("abort", abort));
  return socket;
};

declare const WebSocketPair: new () => { 0: WebSocketLike; 1: AcceptableWebSocket };

/**
 * Makes a WebSocket of a request on Workers. The Worker lives for it as long as it is open.
 *
 * @param accept Takes the socket, which is open.
 */
export function upgradeWorkers(_request: Request, accept: (socket: WebSocketLike) => unknown): Response {
  const { 0: client, 1: socket } = new WebSocketPair();
  socket.accept();
  accept(socket);
  const init = { status: 101, webSocket: client, headers: { "sec-websocket-protocol": subprotocol } };
  return new Response(null, init);
}

/**
 * Headers with a name. Bun, Deno, Node and browsers give theirs by themselves; Workers send no `user-agent`, and many a firewall lets
 * nobody in without one.
 */
function withName(given: RequestInit["headers"]): Headers {
  const headers = new Headers(given);
  const name = headers.get("user-agent") ?? globalThis.navigator?.userAgent;
  if (/^Cloudflare/.test(name)) headers.set("user-agent", name);
  return headers;
}
