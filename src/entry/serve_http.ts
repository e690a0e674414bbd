/**
 * An HTTP server in one line: on Bun, Deno and Node alike.
 *
 * @module
 */
import type { WebSocketLike } from "../ports.ts";
import { defaultLimits } from "../protocol/limits.ts";
import { answerBy, checkHandler, nameless, namesHost } from "../runtime/serve/answer.ts";
import type { RequestHandler } from "../runtime/serve/answer.ts";
import type { HttpListener, ListenHttp } from "../runtime/serve/listen.ts";

export type { RequestHandler } from "../runtime/serve/answer.ts";

/** What serves WebSockets: it is made by `createSocketEndpoint`. */
export interface WebSocketDoor {
  /** Judges a request before it is upgraded: gives what takes the socket, or the reply that sends it away. Never rejects. */
  admit(request: Request): Promise<((socket: WebSocketLike) => unknown) | Response>;
  /** The most that one frame may have, in characters. */
  readonly messageBytes: number | undefined;
  /** Ends all sockets. */
  close(): Promise<void>;
}

/** Options of `serveHttp`. */
export interface ServeHttpOptions {
  /** The port. Default: 8080. With 0 any free one is taken. */
  port?: number | undefined;
  /**
   * The address to listen at. Default, also for an empty text: `127.0.0.1`, this machine alone. At another one, the
   * handler has to be told the names that it is reached by (`allowedHosts`).
   */
  hostname?: string | undefined;
  /** Serves WebSockets beside HTTP: of `createSocketEndpoint`. It is closed with the host. */
  webSocket?: WebSocketDoor | undefined;
  /** How long replies may go on when the host is closed, in milliseconds. Default: 1,000. `Infinity`: until they have ended. */
  grace?: number | undefined;
}

/** An HTTP server at work. */
export interface HttpHost extends AsyncDisposable {
  /** The address that it listens at. */
  readonly hostname: string;
  /** The port that it listens at. */
  readonly port: number;
  /** Where it is, without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Takes no further requests, ends the streams of the handler and the sockets, and lets go of the port. Idempotent. */
  close(): Promise<void>;
}

/** Serves HTTP with a handler. */
export type ServeHttp = (handler: RequestHandler, options?: ServeHttpOptions) => Promise<HttpHost>;

/** Makes `serveHttp` of what a runtime has. */
export function createServeHttp(listen: ListenHttp): ServeHttp {
  return async (handler, options = {}) => {
    checkHandler(handler);
    const { webSocket } = options;
    const port = portOf(options.port ?? 8080);
    // A timer that is asked for more rings at once.
    const grace = Math.min(options.grace ?? 1_000, 2 ** 31 - 1);
    const hostname = hostOf(options.hostname ?? "");
    const admit = webSocket &&
      ((request: Request) => namesHost(request) ? webSocket.admit(request) : Promise.resolve(nameless()));
    const messageBytes = webSocket?.messageBytes ?? defaultLimits.messageBytes;
    const listener = await listen({ answer: answerBy(handler), admit, messageBytes }, { port, hostname });
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => closing ??= end(listener, handler, { webSocket, grace });
    const shown = hostname.includes(":") ? `[${hostname}]` : hostname;
    const url = `http://${shown}:${listener.port}`;
    return { hostname, port: listener.port, url, close, [Symbol.asyncDispose]: close };
  };
}

/** A text of digits is one too, as variables hold it. Of any other text Node makes a pipe of that name. */
function portOf(given: number | string): number {
  if (/^\d{1,5}$/.test(String(given)) && Number(given) < 65_536) return Number(given);
  throw new RangeError(`"port" is ${String(given)}, expected a whole number from 0 to 65,535`);
}

/** The address to listen at: brackets belong to URLs alone, and an empty text would be every address of this machine. */
function hostOf(given: string): string {
  if (typeof given !== "string") throw new TypeError(`"hostname" is ${String(given)}, expected a name or an address`);
  return given.replace(/^\[(.*)\]$/, "$1") || "127.0.0.1";
}

async function end(
  listener: HttpListener,
  handler: RequestHandler,
  { webSocket, grace }: { webSocket: WebSocketDoor | undefined; grace: number },
): Promise<void> {
  const closed = listener.close(grace);
  handler.close?.();
  await webSocket?.close();
  await closed;
}
