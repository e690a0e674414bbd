/**
 * Requests and replies of `node:http` as web standards.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Stream } from "node:http2";
import type { Socket } from "node:net";

/** How long a client may say nothing more of a request that was answered before it was whole, in milliseconds. */
const lingering = 2_000;
/** How long it is listened to at most, in milliseconds: nobody shall keep us busy with what is thrown away. */
const longestRest = 30_000;
/**
 * How long a client may take nothing of a reply that waits for it, in milliseconds: else who never reads keeps it in memory for good.
 * Node looks twice.
 */
const longestStop = 60_000;

/** What is known of a request beside what it holds itself. */
export interface RequestParts {
  readonly signal: AbortSignal;
  /** What it asked for, where that was cut since. Default: its `url`. */
  readonly path?: string | undefined;
  /** Its body, where somebody has read it. */
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Whether a request wants to become a WebSocket. */
export function wantsSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** What tells of a body as it was sent. */
const aboutBody = ["content-length", "content-encoding", "transfer-encoding"];

/** The request as a web standard; undefined when it names no host or path that could be one. */
export function toRequest(
  incoming: IncomingMessage,
  { signal, path, body }: RequestParts,
): Request | undefined {
  const { method = "GET" } = incoming;
  const { ":authority": authority, host = authority } = incoming.headers as Record<string, string | undefined>;
  const url = path ?? incoming.url ?? "/";
  // Cookies of a runner are bound to https. What stands in for a request may have no connection.
  const { encrypted } = (incoming.socket ?? {}) as { readonly encrypted?: boolean };
  const address = url.startsWith("/") ? `http${encrypted ? "s" : ""}://${host ?? "localhost"}${url}` : url;
  try {
    const headers = headersOf(incoming);
    if (host !== undefined && !headers.has("host")) headers.set("host", host);
    if (method === "GET" || method === "HEAD") return new Request(address, { method, headers, signal });
    if (body !== undefined) {
      for (const name of aboutBody) headers.delete(name);
      return new Request(address, { method, headers, body, signal });
    }
    const init: RequestInit & { duplex: "half" } = { method, headers, body: bodyOf(incoming), signal, duplex: "half" };
    return new Request(address, init);
  } catch {
    return undefined;
  }
}

/** As they came; what makes a request of something else, such as an event of a cloud's function, may have the gathered ones alone. */
function headersOf({ rawHeaders, headers: gathered }: IncomingMessage): Headers {
  const headers = new Headers();
  const all = rawHeaders?.length
    ? rawHeaders
    : Object.entries(gathered).flatMap(([name, value]) => [value ?? []].flat().flatMap((one) => [name, one]));
  for (let at = 0; at < all.length; at += 2) {
    const name = all[at] as string;
    // HTTP/2 has its first line among them.
    if (!name.startsWith(":")) headers.append(name, all[at + 1] as string);
  }
  return headers;
}

/** Why what was for a client is called off. */
export function clientGone(): DOMException {
  return new DOMException("The client is gone", "AbortError");
}

/** The body of a request. Who gives it up leaves the connection as it is: the reply has to go out on it. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let leave = (): void => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (incoming.destroyed) return controller.error(clientGone());
      const taken = ({ buffer, byteOffset, length }: Uint8Array<ArrayBuffer>): void => {
        incoming.pause();
        controller.enqueue(new Uint8Array(buffer, byteOffset, length));
      };
      const ended = (): void => {
        leave();
        controller.close();
      };
      const lost = (): void => {
        leave();
        controller.error(clientGone());
      };
      leave = () => void incoming.pause().off("data", taken).off("end", ended).off("close", lost);
      incoming.on("error", () => {}).on("data", taken).on("end", ended).on("close", lost).pause();
    },
    pull: () => void incoming.resume(),
    cancel: () => leave(),
  }, { highWaterMark: 0 });
}

/** Where a reply goes. */
interface Outlet {
  readonly outgoing: ServerResponse;
  readonly signal: AbortSignal;
  /** How long a client may take nothing of what waits for it, in milliseconds. */
  readonly patience?: number | undefined;
}

/** Sends a reply, as fast as the client takes it. One who takes nothing of it is given up. */
export async function sendReply(
  response: Response,
  incoming: IncomingMessage,
  outlet: Outlet,
): Promise<void> {
  const { outgoing, signal } = outlet;
  if (signal.aborted) return void response.body?.cancel().catch(() => {});
  // What is left of a request that was refused early is nobody's, and no other request comes behind it. HTTP/2 has no such header.
  if (!incoming.complete && incoming.httpVersionMajor === 1) outgoing.setHeader("connection", "close");
  outgoing.statusCode = response.status;
  let isPlain = true;
  for (const [name, value] of response.headers) {
    isPlain &&= !/[\x80-\xff]/.test(value);
    if (name !== "set-cookie") outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length) outgoing.setHeader("set-cookie", cookies);
  if (response.body) await sendBody(response.body, outlet, isPlain);
  if (!incoming.complete) {
    sendHead(outgoing, isPlain);
    await readRest(incoming);
  }
  // What wraps `end`, as sessions of Express do, takes a function for the rest of the reply.
  outgoing.once("finish", () => {
    if (!incoming.complete) incoming.destroy();
  }).end();
  if (outgoing.writableLength > 0 || !outgoing.socket) awaitEnd(outlet);
}

/** Gives up a client who does not take the last of a reply. */
function awaitEnd({ outgoing, patience }: Outlet): void {
  endWhenStopped(outgoing, patience);
  // Before Node keeps the connection for another request, which has its own time, or gives it to the next reply.
  outgoing.prependOnceListener("finish", () => outgoing.socket?.setTimeout(0));
}

/** What a reply goes out on: a connection, or a stream of HTTP/2, whose connection has other replies, too. */
export function lineOf(outgoing: ServerResponse): Http2Stream | Socket | null {
  const { stream } = outgoing as { readonly stream?: Partial<Http2Stream> };
  return stream?.setTimeout ? stream as Http2Stream : outgoing.socket;
}

/** Has Node end the connection where nothing goes out for so long. A reply behind another one has none until that is through. */
function endWhenStopped(outgoing: ServerResponse, patience: number = longestStop): void {
  const watch = (): void => void lineOf(outgoing)?.setTimeout(patience);
  // Of a connection Node does so by itself.
  if (lineOf(outgoing) !== outgoing.socket && !outgoing.listenerCount("timeout")) {
    outgoing.on("timeout", () => outgoing.destroy());
  }
  if (outgoing.socket) watch();
  else outgoing.once("socket", watch);
}

/**
 * Lets a client say what it still has to say. A connection that is closed before that is reset, and whoever is at writing then may
 * never read the reply (RFC 9112, section 9.6).
 */
function readRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let isSilent = false;
    // It looks twice: what came while the machine stood still is read in between.
    const timer = setInterval(() => {
      if (isSilent) return done();
      isSilent = true;
    }, lingering / 2);
    const end = performance.now() + longestRest;
    const done = (): void => {
      clearInterval(timer);
      resolve();
    };
    const heard = (): void => {
      if (performance.now() >= end) return;
      isSilent = false;
      timer.refresh();
    };
    // Nobody is to take what is read here, or its end for that of the body.
    incoming.removeAllListeners("data").removeAllListeners("end");
    incoming.on("data", heard).once("end", done).once("close", done)
      .resume();
  });
}

async function sendBody(
  body: ReadableStream<Uint8Array>,
  outlet: Outlet,
  isPlain: boolean,
): Promise<void> {
  const { outgoing, signal } = outlet;
  const reader = body.getReader();
  const leave = (): void => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", leave);
  // Also while it waits for a client that reads nothing.
  reader.closed.catch(() => outgoing.destroy());
  sendHead(outgoing, isPlain);
  try {
    for (let read = await reader.read(); !read.done && !signal.aborted; read = await reader.read()) {
      // What stands in for a response may say nothing of room.
      if (outgoing.write(read.value) === false) await room(outlet);
    }
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** By itself Node sends a head as UTF-8: each byte above ASCII would become two. */
function sendHead(outgoing: ServerResponse, isPlain: boolean): void {
  if (isPlain) outgoing.flushHeaders();
  else outgoing.write(new Uint8Array(0));
}

/** Resolves when there is room again, or nobody is left. */
function room({ outgoing, signal, patience }: Outlet): Promise<void> {
  return new Promise((resolve) => {
    endWhenStopped(outgoing, patience);
    const done = (): void => {
      lineOf(outgoing)?.setTimeout(0);
      outgoing.off("drain", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    outgoing.on("drain", done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}
