/**
 * HTTP and WebSockets served by `Bun.serve`.
 *
 * @module
 */
import type { WebSocketEvent, WebSocketLike } from "../../ports.ts";
import { subprotocol, wantsSocket } from "../../protocol/web_socket.ts";
import { ownReply } from "./answer.ts";
import { type HttpListener, type HttpServing, type ListenHttp, socketSilence } from "./listen.ts";

/** The part of Bun's socket that is used. */
interface BunSocket {
  readonly data: { readonly socket: Accepted };
  readonly readyState: number;
  send(text: string): number;
  close(code?: number, reason?: string): void;
  getBufferedAmount(): number;
}

interface BunServer {
  readonly port: number;
  readonly hostname: string;
  timeout(request: Request, seconds: number): void;
  upgrade(request: Request, options: { headers: Record<string, string>; data: BunSocket["data"] }): boolean;
  stop(now?: boolean): Promise<void>;
}

declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    fetch(request: Request, server: BunServer): Promise<Response | undefined>;
    error(): Response;
    websocket: {
      maxPayloadLength: number;
      backpressureLimit: number;
      closeOnBackpressureLimit: boolean;
      idleTimeout: number;
      open(socket: BunSocket): void;
      message(socket: BunSocket, data: unknown): void;
      close(socket: BunSocket, code: number, reason: string): void;
    };
  }): BunServer;
};

/** Silence on a connection before Bun ends it, in seconds: longer than between two keep-alive comments. */
const idleTimeout = 120;
/** At least so long before a WebSocket is given up Bun asks whether the other side is there, in seconds. */
const answerTime = 8;
/** How long a request may take at most until its reply begins, in milliseconds: else one that never comes whole stays for good. */
const longestWork = 3_600_000;
/** Bytes that may wait in one socket: the channel above holds back long before. */
const backpressureLimit = 128 * 2 ** 20;

/** Serves by `Bun.serve`. */
export const listenBun: ListenHttp = createListenBun(idleTimeout);

/**
 * Makes what serves by `Bun.serve`.
 *
 * @param idleTimeout Silence on a connection before it is ended, in seconds.
 * @param longest How long silence is no matter while a request is at work, in milliseconds.
 */
export function createListenBun(idleTimeout: number, longest: number = longestWork): ListenHttp {
  return (serving, at) => listen(serving, { ...at, idleTimeout }, longest);
}

function listen(
  { answer, admit, messageBytes }: HttpServing,
  at: { readonly hostname: string; readonly port: number; readonly idleTimeout: number },
  longest: number,
): Promise<HttpListener> {
  async function upgrade(request: Request, server: BunServer): Promise<Response | undefined> {
    const admitted = await admit!(request);
    if (typeof admitted !== "function") return ownReply(admitted);
    const socket = new Accepted(admitted);
    const headers = { "sec-websocket-protocol": subprotocol };
    return server.upgrade(request, { headers, data: { socket } }) ? undefined : new Response(null, { status: 400 });
  }
  async function reply(request: Request, server: BunServer): Promise<Response> {
    // To Bun a connection is silent also while we are at work: a model may take minutes.
    server.timeout(request, 0);
    const heed = (): void => server.timeout(request, at.idleTimeout);
    const timer = setTimeout(heed, longest).unref();
    try {
      return ownReply(await answer(request));
    } finally {
      clearTimeout(timer);
      heed();
    }
  }
  const server = Bun.serve({
    ...at,
    fetch: (request, server) => admit && wantsSocket(request) ? upgrade(request, server) : reply(request, server),
    error: () => new Response(null, { status: 500 }),
    websocket: {
      maxPayloadLength: messageBytes,
      backpressureLimit,
      closeOnBackpressureLimit: true,
      idleTimeout: socketSilence + answerTime,
      open: (socket) => socket.data.socket.open(socket),
      message: ({ data: { socket } }, data) => socket.tell("message", { data }),
      close: ({ data: { socket } }, code, reason) => socket.tell("close", { code, reason }),
    },
  });
  return Promise.resolve({
    hostname: server.hostname,
    port: server.port,
    close: async (grace) => {
      let timer;
      // Before 1.4 neither stop ever resolves where a reply was open, and the first one not where a socket was.
      const cut = new Promise<void>((resolve) => {
        timer = setTimeout(() => {
          void server.stop(true);
          resolve();
        }, grace);
      });
      await Promise.race([server.stop(), cut]);
      clearTimeout(timer);
    },
  });
}

/** Bun tells of its sockets through handlers of the server: this gives each its own listeners. */
class Accepted implements WebSocketLike {
  readonly protocol = subprotocol;
  readonly #accept: (socket: WebSocketLike) => unknown;
  readonly #listeners: [type: string, listener: (event: WebSocketEvent) => void][] = [];
  #socket: BunSocket | undefined;

  constructor(accept: (socket: WebSocketLike) => unknown) {
    this.#accept = accept;
  }

  get readyState(): number {
    return this.#socket?.readyState ?? 0;
  }

  get bufferedAmount(): number {
    return this.#socket?.readyState === 1 ? this.#socket.getBufferedAmount() : 0;
  }

  open(socket: BunSocket): void {
    this.#socket = socket;
    this.#accept(this);
  }

  tell(type: string, event: WebSocketEvent): void {
    for (const [wanted, listener] of this.#listeners) if (wanted === type) listener(event);
  }

  send(text: string): void {
    // 0: it was dropped. -1: it waits.
    if (this.#socket?.send(text) === 0 && text !== "") throw new Error("The socket is closed or full");
  }

  close(code?: number, reason?: string): void {
    this.#socket?.close(code, reason);
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    this.#listeners.push([type, listener]);
  }
}
