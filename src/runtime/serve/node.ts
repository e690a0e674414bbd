/**
 * HTTP served by `node:http`: its requests and replies as web standards.
 *
 * @module
 */
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { HttpServing, ListenHttp } from "./listen.ts";

/** How long the headers of a request may take, in milliseconds. */
const headersTimeout = 30_000;
/** How long a whole request may take, in milliseconds; its reply may take as long as it likes. */
const requestTimeout = 300_000;

/** Serves by `node:http`. Node has no server for WebSockets of its own: `admit` must be undefined. */
export const listenNode: ListenHttp = async ({ answer }, { hostname, port }) => {
  const server = createServer({ headersTimeout, requestTimeout }, (request, response) => {
    void exchange(request, response, answer).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo; // It listens on a port, not on a pipe.
  return { hostname, port: address.port, close: (grace) => close(server, grace) };
};

async function close(server: Server, grace: number): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), grace);
  await closed;
  clearTimeout(timer);
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
  if (signal.aborted) return void response.body?.cancel().catch(() => {});
  // What is left of a request that was refused early is not read.
  if (!incoming.complete) outgoing.setHeader("connection", "close");
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== "set-cookie") outgoing.setHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length) outgoing.setHeader("set-cookie", cookies);
  if (response.body) await send(response.body, outgoing, signal);
  outgoing.end(() => {
    if (!incoming.complete) incoming.destroy();
  });
}

/** The request as a web standard; undefined when it names no host or path that could be one. */
function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = "GET", url = "/", rawHeaders } = incoming;
  const address = url.startsWith("/") ? `http://${incoming.headers.host ?? "localhost"}${url}` : url;
  try {
    const headers = new Headers();
    for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
    if (method === "GET" || method === "HEAD") return new Request(address, { method, headers, signal });
    const body = Readable.toWeb(incoming) as unknown as ReadableStream<Uint8Array>; // The same class under two types.
    const init: RequestInit & { duplex: "half" } = { method, headers, body, signal, duplex: "half" };
    return new Request(address, init);
  } catch {
    return undefined;
  }
}

/** Sends a body chunk by chunk, as fast as the client takes it. */
async function send(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", leave);
  outgoing.flushHeaders();
  try {
    for (let read = await reader.read(); !read.done && !signal.aborted; read = await reader.read()) {
      if (!outgoing.write(read.value)) await room(outgoing, signal);
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** Resolves when there is room again, or nobody is left. */
function room(outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    outgoing.on("drain", done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
