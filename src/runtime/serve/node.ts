/**
 * HTTP served by `node:http`; WebSockets beside it by the package `ws`, which is loaded where they are wanted.
 *
 * @module
 */
import { createServer, maxHeaderSize as nodeHeaderSize } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type HttpServing, type ListenHttp, socketSilence } from "./listen.ts";
import { clientGone, lineOf, type RequestParts, sendReply, toRequest, wantsSocket } from "./node_messages.ts";
import type { NodeSockets, NodeSocketsOptions } from "./node_sockets.ts";

/** How long the headers of a request may take, in milliseconds. */
const headersTimeout = 30_000;
/** How long a whole request may take, in milliseconds; its reply may take as long as it likes. */
const requestTimeout = 300_000;
/** What Node takes of a head in all where its `--max-http-header-size` does not say otherwise, in bytes. */
const usualHeaderSize = 16_384;
/** What is taken then: the arguments that are mirrored by default are as much as that alone, and tokens come beside them. */
const roomyHeaderSize = 65_536;
/** How long a connection is kept for its next request, in milliseconds: longer than by clients, who would send one as it closes. */
const keepAliveTimeout = 120_000;

/** Serves by `node:http`. */
export const listenNode: ListenHttp = createListenNode(1_000 * socketSilence);

/**
 * Makes what serves by `node:http`.
 *
 * @param idleTime How long a WebSocket may be silent before it is asked, and then until it is asked again, in milliseconds.
 * @param patience How long a client may take nothing of a reply that waits for it, in milliseconds. Default: a minute.
 */
export function createListenNode(idleTime: number, patience?: number): ListenHttp {
  return async ({ answer, admit, messageBytes }, { hostname, port }) => {
    checkPermission(hostname);
    // Node from 25 on hands over an upgrade without its body, which nobody would read. Before 24.9 it hands over each.
    const upgrades = admit && { shouldUpgradeCallback: wantsSocket };
    const maxHeaderSize = nodeHeaderSize === usualHeaderSize ? roomyHeaderSize : nodeHeaderSize;
    const options = { headersTimeout, requestTimeout, keepAliveTimeout, maxHeaderSize, ...upgrades };
    const server = createServer(options, (request, response) => {
      // It may fall idle only now that the server closes: nobody waits for another request on it.
      response.on("close", () => server.listening || server.closeIdleConnections());
      const signal = leaving(connections.get(request.socket), response);
      void exchange(request, response, { answer, signal, patience });
    });
    const connections = connectionsOf(server);
    const sockets = admit && await openSockets(server, { admit, messageBytes, idleTime });
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void => {
        sockets?.destroy();
        reject(error);
      };
      server.once("error", failed);
      server.listen(port, hostname, () => {
        server.off("error", failed);
        resolve();
      });
    });
    const address = server.address() as AddressInfo; // It listens on a port, not on a pipe.
    const endRest = (): void => {
      server.closeAllConnections();
      sockets?.destroy();
    };
    return { hostname, port: address.port, close: (grace) => close(server, { connections, endRest, grace }) };
  };
}

/**
 * What a process may not do of the network ends it, past whatever listens for errors. Node before 25 has no such permission.
 *
 * @throws {Error} When it may not listen.
 */
function checkPermission(hostname: string): void {
  const { permission, allowedNodeEnvironmentFlags } = process as typeof process & {
    readonly permission?: { has(scope: string): boolean };
  };
  if (!permission || permission.has("net") || !allowedNodeEnvironmentFlags.has("--allow-net")) return;
  throw new Error(`Cannot listen at "${hostname}": this process may not; run Node with --allow-net`);
}

/** What is under way on each connection that is open. */
type Connections = ReadonlyMap<Socket, Set<AbortController>>;

function connectionsOf(server: Server): Connections {
  const connections = new Map<Socket, Set<AbortController>>();
  server.on("connection", (socket: Socket) => {
    // It comes again when it is given back by what looked at an upgrade.
    if (connections.has(socket)) return;
    const underWay = new Set<AbortController>();
    connections.set(socket, underWay);
    socket.once("close", () => {
      connections.delete(socket);
      for (const controller of underWay) controller.abort(clientGone());
    });
  });
  return connections;
}

/** What is aborted when a client is gone. A reply that waits behind another one has no connection yet whose end it would be told. */
function leaving(underWay: Set<AbortController> | undefined, outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  underWay?.add(controller);
  outgoing.on("error", () => {}).on("close", () => {
    // Workers say so as soon as the head goes out. HTTP/2 does not tell whether it is destroyed.
    if (outgoing.destroyed === false) return;
    underWay?.delete(controller);
    // HTTP/2 ends by itself what its client gives up, and calls that finished.
    if (!outgoing.writableFinished || !outgoing.writableEnded) controller.abort(clientGone());
  });
  // Where it took a while until it came here, as while somebody was looked up, nobody says so again.
  // HTTP/2 says so of its stream alone.
  if (outgoing.destroyed ?? lineOf(outgoing)?.destroyed) controller.abort(clientGone());
  return controller.signal;
}

async function openSockets(server: Server, options: Omit<NodeSocketsOptions, "Handshakes">): Promise<NodeSockets> {
  const Handshakes = await loadHandshakes();
  const { serveNodeSockets } = await import("./node_sockets.ts");
  return serveNodeSockets(server, { ...options, Handshakes });
}

/** The package is named where its absence is caught: a bundler that does not find it goes on without it. */
async function loadHandshakes(): Promise<NodeSocketsOptions["Handshakes"]> {
  try {
    return (await import("ws")).WebSocketServer;
  } catch (cause) {
    throw new TypeError('Cannot serve WebSockets on Node: the package "ws" has to be installed', { cause });
  }
}

async function close(
  server: Server,
  { connections, endRest, grace }: { connections: Connections; endRest: () => void; grace: number },
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  // One that was opened ahead and has not said a byte is not idle in the eyes of `node:http`.
  for (const socket of connections.keys()) if (socket.bytesRead === 0) socket.destroy();
  const timer = setTimeout(endRest, grace);
  await closed;
  clearTimeout(timer);
}

/** Ends a reply that cannot be sent, such as one with a control character in a header: with a 500 where nothing has gone out. */
function fail(outgoing: ServerResponse): void {
  if (outgoing.headersSent) return void outgoing.destroy();
  for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name);
  outgoing.writeHead(500, { "content-length": 0, connection: "close" }).end();
}

/** What one request is answered with. */
interface ExchangeParts extends Pick<HttpServing, "answer">, RequestParts {
  /** How long a client may take nothing of its reply, in milliseconds. */
  readonly patience?: number | undefined;
}

/** Answers a request. Never rejects. */
async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { answer, patience, ...parts }: ExchangeParts,
): Promise<void> {
  const { signal } = parts;
  try {
    const request = toRequest(incoming, parts);
    // Node tells a request through a weak reference only: the connection has to hold it.
    signal.addEventListener("abort", () => void request, { once: true });
    const response = request ? await answer(request) : new Response(null, { status: 400 });
    await sendReply(response, incoming, { outgoing, signal, patience });
  } catch {
    fail(outgoing);
  }
}

/** Answers a request that somebody else's server has taken. Never rejects. */
export function answerNode(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  parts: Omit<ExchangeParts, "patience" | "signal">,
): Promise<void> {
  return exchange(incoming, outgoing, { ...parts, signal: leaving(undefined, outgoing) });
}
