/**
 * HTTP served by `node:http`; WebSockets beside it by the package `ws`, which is loaded where they are wanted.
 *
 * @module
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { HttpServing, ListenHttp } from "./listen.ts";
import { sendReply, toRequest } from "./node_messages.ts";

/** How long the headers of a request may take, in milliseconds. */
const headersTimeout = 30_000;
/** How long a whole request may take, in milliseconds; its reply may take as long as it likes. */
const requestTimeout = 300_000;
/** Silence before the other side of a WebSocket is asked whether it is there, and that long again until it is given up. */
const idleTime = 120_000;

/** Serves by `node:http`. */
export const listenNode: ListenHttp = createListenNode(idleTime);

/**
 * Makes what serves by `node:http`.
 *
 * @param idleTime How long a WebSocket may be silent before it is asked, and then until it is given up, in milliseconds.
 */
export function createListenNode(idleTime: number): ListenHttp {
  return async ({ answer, admit, messageBytes }, { hostname, port }) => {
    const server = createServer({ headersTimeout, requestTimeout }, (request, response) => {
      // It may fall idle only now that the server closes: nobody waits for another request on it.
      response.on("close", () => server.listening || server.closeIdleConnections());
      void exchange(request, response, answer).catch(() => fail(response));
    });
    const connections = connectionsOf(server);
    const sockets = admit && (await loadSockets())(server, { admit, messageBytes, idleTime });
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

/** The connections that are open. */
function connectionsOf(server: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function loadSockets(): Promise<typeof import("./node_sockets.ts").serveNodeSockets> {
  try {
    return (await import("./node_sockets.ts")).serveNodeSockets;
  } catch (cause) {
    throw new TypeError('Cannot serve WebSockets on Node: the package "ws" has to be installed', { cause });
  }
}

async function close(
  server: Server,
  { connections, endRest, grace }: { connections: ReadonlySet<Socket>; endRest: () => void; grace: number },
): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  // One that was opened ahead and has not said a byte is not idle in the eyes of `node:http`.
  for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
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

async function exchange(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: HttpServing["answer"],
): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  outgoing.on("error", () => {}).on("close", () => {
    if (!outgoing.writableFinished) controller.abort(new DOMException("The client is gone", "AbortError"));
  });
  const request = toRequest(incoming, signal);
  // Node tells a request through a weak reference only: the connection has to hold it.
  signal.addEventListener("abort", () => void request, { once: true });
  const response = request ? await answer(request) : new Response(null, { status: 400 });
  await sendReply(response, incoming, { outgoing, signal });
}
