/**
 * Where the browser comes back to: a server on this machine alone, for the time of one sign-in. It shows the same page
 * whatever it is asked, so that nothing of a request can get into it, and no answer tells one request from another.
 *
 * @module
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";

/** The server, listening. */
export interface CallbackServer {
  /** What the authorization server is told to send the browser back to. */
  readonly redirectUri: string;
  /** Ends every connection. Idempotent. */
  close(): Promise<void>;
}

/** How it listens. */
export interface CallbackOptions {
  /** Default: a free one. */
  readonly port?: number | undefined;
  /** Where on it (`/callback`). */
  readonly path?: string | undefined;
  /** How long one connection may take, in milliseconds (5,000). */
  readonly connectionTime?: number | undefined;
}

const hostname = "127.0.0.1";
const defaultConnectionTime = 5_000;
/** Connections that may be open at once: with one more the oldest is ended, so that silent ones keep nobody out. */
const mostConnections = 64;
const mostHeaderBytes = 16_384;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Signing in</title>
<main>
<h1>The answer has arrived</h1>
<p>How it went is told where you began; this window can be closed.</p>
</main>
</html>
`;
const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "connection": "close",
};

/**
 * Listens on 127.0.0.1.
 *
 * @param arrived Gets the whole address of each request that may be the browser's. Must not throw.
 * @throws {McpError} When the port is taken, or may not be used.
 */
export async function listenForCallback(
  arrived: (url: string) => void,
  options: CallbackOptions = {},
): Promise<CallbackServer> {
  const { port: wanted = 0, path = "/callback", connectionTime = defaultConnectionTime } = options;
  let hosts: readonly string[] = [];
  const server = createServer({ maxHeaderSize: mostHeaderBytes }, (request, response) => {
    const status = judge(request, hosts, path);
    answer(request, response, status);
    if (status === 200) arrived(`http://${hosts[0]}${request.url}`);
  });
  const sockets = bound(server, connectionTime);
  const port = await listen(server, wanted);
  hosts = [`${hostname}:${port}`, `localhost:${port}`];
  let closed: Promise<void> | undefined;
  return {
    redirectUri: `http://${hosts[0]}${path}`,
    close: () =>
      closed ??= new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const code = isObject(error) ? error.code : undefined;
      const why = code === "EADDRINUSE" ? "it is taken" : code === "EACCES" ? "it may not be used" : error.message;
      reject(new McpError(`Cannot listen on port ${port} of ${hostname}: ${why}`));
    });
    server.listen(port, hostname, () => {
      const address = server.address();
      resolve(isObject(address) && typeof address.port === "number" ? address.port : port);
    });
  });
}

/** Ends connections that take long, and the oldest when there are many. Not every runtime does that by itself. */
function bound(server: Server, connectionTime: number): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    const timer = setTimeout(() => socket.destroy(), connectionTime);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
    const [oldest] = sockets;
    if (sockets.size > mostConnections && oldest) {
      sockets.delete(oldest);
      oldest.destroy();
    }
  });
  server.on("clientError", (_, socket) => socket.destroy());
  return sockets;
}

/** 200: the browser that comes back; else why not. A name of this machine is no proof of it: it is the port's own or none. */
function judge(
  { method, headers, url = "" }: IncomingMessage,
  hosts: readonly string[],
  path: string,
): 200 | 404 | 405 | 421 {
  if (!hosts.includes(headers.host?.toLowerCase() ?? "")) return 421;
  if (url !== path && !url.startsWith(`${path}?`)) return 404;
  return method === "GET" ? 200 : 405;
}

function answer(request: IncomingMessage, response: ServerResponse, status: number): void {
  request.on("error", () => {});
  response.on("error", () => {});
  request.resume();
  if (status === 200) response.writeHead(200, { ...headers, "content-length": page.length }).end(page);
  else response.writeHead(status, { ...headers, "content-length": 0, ...(status === 405 && { allow: "GET" }) }).end();
}
