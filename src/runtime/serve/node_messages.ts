/**
 * Requests and replies of `node:http` as web standards.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** The request as a web standard; undefined when it names no host or path that could be one. */
export function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
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

/** Sends a reply, as fast as the client takes it. */
export async function sendReply(
  response: Response,
  incoming: IncomingMessage,
  { outgoing, signal }: { outgoing: ServerResponse; signal: AbortSignal },
): Promise<void> {
  if (signal.aborted) return void response.body?.cancel().catch(() => {});
  // What is left of a request that was refused early is not read.
  if (!incoming.complete) outgoing.setHeader("connection", "close");
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== "set-cookie") outgoing.setHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length) outgoing.setHeader("set-cookie", cookies);
  if (response.body) await sendBody(response.body, outgoing, signal);
  outgoing.end(() => {
    if (!incoming.complete) incoming.destroy();
  });
}

async function sendBody(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const reader = body.getReader();
  const leave = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", leave);
  // Also while it waits for a client that reads nothing.
  reader.closed.catch(() => outgoing.destroy());
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
