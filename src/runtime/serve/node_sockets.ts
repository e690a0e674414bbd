/**
 * WebSockets on Node, by the package `ws`: it makes the handshake and the frames, behind the server of `node:http`.
 *
 * @module
 */
import { ServerResponse } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ServerOptions, WebSocket, WebSocketServer } from "ws";
import type { WebSocketLike } from "../../ports.ts";
import { subprotocol } from "../../protocol/web_socket.ts";
import type { HttpServing } from "./listen.ts";
import { sendReply, toRequest, wantsSocket } from "./node_messages.ts";

/** What the sockets of a server are made with. */
export interface NodeSocketsOptions extends Pick<HttpServing, "messageBytes"> {
  /** The class of `ws`. */
  readonly Handshakes: typeof WebSocketServer;
  /** Judges a request for a WebSocket. */
  readonly admit: NonNullable<HttpServing["admit"]>;
  /** How long a socket may be silent before it is asked, and then until it is asked again, in milliseconds. */
  readonly idleTime: number;
}

/** The sockets of a server. */
export interface NodeSockets {
  /** Ends all at once, without a goodbye. */
  destroy(): void;
}

/** How often a socket that says nothing is asked before it is given up: an answer comes behind a long message that is still read. */
const mostAsked = 4;
/** How long the other side may take to answer a goodbye, in milliseconds. */
const closeTimeout = 2_000;

/** Takes the upgrades of a server: those for a WebSocket are judged, all others are served as plain requests. */
export function serveNodeSockets(server: Server, options: NodeSocketsOptions): NodeSockets {
  const upgrades = new Upgrades(server, options);
  server.on("upgrade", (incoming: IncomingMessage, socket: Duplex, head: Uint8Array) => {
    upgrades.take(incoming, socket as Socket, head); // A server of `node:http` has no other streams.
  });
  server.once("close", () => upgrades.destroy());
  return upgrades;
}

class Upgrades implements NodeSockets {
  readonly #server: Server;
  readonly #admit: NodeSocketsOptions["admit"];
  readonly #handshakes: WebSocketServer;
  readonly #sockets = new Set<Socket>();
  readonly #open = new Set<OpenSocket>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(server: Server, { Handshakes, admit, messageBytes, idleTime }: NodeSocketsOptions) {
    this.#server = server;
    this.#admit = admit;
    const options: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      // A few bytes could become gigabytes.
      perMessageDeflate: false,
      maxPayload: messageBytes,
      handleProtocols: () => subprotocol,
      closeTimeout,
    };
    this.#handshakes = new Handshakes(options);
    this.#timer = setInterval(() => this.#ask(), idleTime).unref();
  }

  take(incoming: IncomingMessage, socket: Socket, head: Uint8Array): void {
    if (!wantsSocket(incoming)) return serveAgain(this.#server, incoming, socket, head);
    this.#sockets.add(socket);
    socket.on("error", () => {}).once("close", () => this.#sockets.delete(socket));
    void this.#judge(incoming, socket, head).catch(() => socket.destroy());
  }

  destroy(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets) socket.destroy();
  }

  async #judge(incoming: IncomingMessage, socket: Socket, head: Uint8Array): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    const request = toRequest(incoming, { signal });
    const leave = (): void => {
      controller.abort(new DOMException("The client is gone", "AbortError"));
      // Node tells a request through a weak reference only: the connection has to hold it.
      void request;
    };
    socket.once("close", leave);
    const admitted = request ? await this.#admit(request) : new Response(null, { status: 400 });
    if (typeof admitted !== "function") return await refuse(admitted, incoming, { socket, signal });
    if (incoming.headers["sec-websocket-version"] !== "13") {
      const headers = { "sec-websocket-version": "13" };
      return await refuse(new Response(null, { status: 426, headers }), incoming, { socket, signal });
    }
    socket.off("close", leave);
    this.#handshakes.handleUpgrade(incoming, socket, head as Buffer, (webSocket) => {
      const open: OpenSocket = { webSocket, socket, read: undefined, asked: 0 };
      this.#open.add(open);
      webSocket.on("error", () => {}).once("close", () => this.#open.delete(open));
      admitted(webSocket as unknown as WebSocketLike); // The same interface under two types.
    });
  }

  /** Asks each socket whether it is there; one that has not said a byte since it was asked so often is given up. */
  #ask(): void {
    for (const open of this.#open) {
      const { bytesRead } = open.socket;
      if (open.read !== bytesRead) open.asked = 0;
      open.read = bytesRead;
      if (open.asked++ < mostAsked) open.webSocket.ping();
      else open.webSocket.terminate();
    }
  }
}

interface OpenSocket {
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  /** How much it had said when it was asked the last time. */
  read: number | undefined;
  /** How often it was asked since. */
  asked: number;
}

async function refuse(
  response: Response,
  incoming: IncomingMessage,
  { socket, signal }: { socket: Socket; signal: AbortSignal },
): Promise<void> {
  const outgoing = new ServerResponse(incoming);
  outgoing.assignSocket(socket);
  outgoing.shouldKeepAlive = false;
  outgoing.on("error", () => {}).on("finish", () => socket.destroySoon());
  await sendReply(response, incoming, { outgoing, signal });
}

/**
 * Gives a connection back to its server, as if the request had not asked for another protocol: `node:http` takes each
 * `upgrade` out of its hands, also that for HTTP/2, which some clients send along with their first request.
 */
function serveAgain(server: Server, incoming: IncomingMessage, socket: Socket, head: Uint8Array): void {
  const { method, url, httpVersion, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at]!, rawHeaders[at + 1]!];
    if (/^connection$/i.test(name)) {
      const others = value.split(",").filter((word) => !/^\s*(upgrade|http2-settings)\s*$/i.test(word));
      if (others.length) lines.push(`${name}: ${others.join()}`);
    } else if (!/^(upgrade|http2-settings)$/i.test(name)) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}
