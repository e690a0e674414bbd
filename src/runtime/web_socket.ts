/**
 * Opening a web-standard WebSocket, with headers where the runtime takes them.
 *
 * @module
 */
import type { OpenWebSocket, WebSocketLike } from "../ports.ts";
import { ConnectError } from "../protocol/errors.ts";

type WebSocketClass = new (url: string, options: unknown) => WebSocketLike;

/**
 * Opens a WebSocket by the runtime's own class. For browsers: headers cannot be sent there and are left out.
 *
 * @throws {ConnectError} When there is no such class or no connection comes about.
 */
export const openWebSocketPlain: OpenWebSocket = (url, { protocols, signal }) => open(url, protocols, signal);

/**
 * Opens a WebSocket by the runtime's own class, with headers, as Bun, Deno and Node (22 and later) take them.
 *
 * @throws {ConnectError} When there is no such class or no connection comes about.
 */
export const openWebSocketWithHeaders: OpenWebSocket = (url, { protocols, headers, signal }) =>
  open(url, headers ? { protocols, headers } : protocols, signal);

/** A URL as messages may show it: without user, query and fragment. */
export function shownUrl(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
  } catch {
    return url.split(/[?#]/, 1)[0] ?? "";
  }
}

function open(url: string, options: unknown, signal: AbortSignal | undefined): Promise<WebSocketLike> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const { WebSocket } = globalThis as { WebSocket?: WebSocketClass };
    if (!WebSocket) {
      throw new ConnectError(
        `Cannot open "${shownUrl(url)}": this runtime has no WebSocket; use Node 22 or later, or pass "openWebSocket"`,
        { delivery: "not-sent" },
      );
    }
    // The runtime's own words may hold the whole URL, and so its secrets; for the same reason no cause is kept.
    const fail = (words: string) => {
      const detail = words.replaceAll(url, shownUrl(url)).replace(/[?#][^\s'"]*/g, "").replace(/\/\/[^\s/'"]*@/g, "//");
      const options = { delivery: "not-sent", retryable: true } as const;
      reject(new ConnectError(`Cannot open "${shownUrl(url)}": ${detail}`, options));
    };
    let socket: WebSocketLike;
    try {
      socket = new WebSocket(url, options);
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
    const abort = () => {
      reject(signal?.reason);
      socket.close();
    };
    signal?.addEventListener("abort", abort, { once: true });
    socket.addEventListener("open", () => resolve(socket));
    socket.addEventListener("error", (event) => fail(event.message || "the connection failed"));
    socket.addEventListener("close", (event) => {
      signal?.removeEventListener("abort", abort);
      fail(`the server closed it (${event.code ?? "no code"})`);
    });
  });
}
