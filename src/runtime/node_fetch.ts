/**
 * `fetch` over `node:http` and `node:https`: less than half the cost of Node's own, and the way to pin addresses.
 *
 * @module
 */
import http from "node:http";
import type { ClientRequest, IncomingMessage } from "node:http";
import https from "node:https";
import { Buffer } from "node:buffer";
import process from "node:process";
import { pipeline, Readable } from "node:stream";
import type { Transform } from "node:stream";
import zlib from "node:zlib";
import type { Fetch } from "../ports.ts";
import { ConnectError } from "../protocol/errors.ts";
import { readHeaders } from "./headers.ts";
import { UsedChunks } from "./memory.ts";
import { proxyOf } from "./node_proxy.ts";

/** Options of {@linkcode createNodeFetch}. */
export interface NodeFetchOptions {
  /**
   * Resolves host names for connections, as `node:net` takes it: to pin addresses that were checked. No proxy is taken then, since it
   * would resolve them itself.
   */
  lookup?: HostLookup | undefined;
  /** Certificate authorities in PEM form, instead of the well-known ones. */
  ca?: string | string[] | undefined;
  /** How long an idle connection is kept, in milliseconds. Default 4,000: less than what servers commonly keep. */
  keepAlive?: number | undefined;
}

/** Resolves a host name, for all of its addresses or for one: the form of `node:net`, without a need for its types. */
export type HostLookup = (
  hostname: string,
  options: { readonly all?: boolean | undefined },
  callback: (
    error: Error | null,
    address: string | { readonly address: string; readonly family: number }[],
    family?: number,
  ) => void,
) => void;

/** A `fetch` with connections of its own. */
export interface NodeFetch {
  /** Sends one request. */
  fetch: Fetch;
  /** Closes the idle connections, and each busy one breaks. */
  close(): void;
}

/**
 * Makes a `fetch` over Node's HTTP client. Redirects are never followed, headers are sent as given (and `user-agent: node` where none is), a reply in gzip,
 * deflate or br is unpacked while it is read, and idle connections do not keep the process alive. No HTTP/2; a proxy where Node
 * itself takes one (`NODE_USE_ENV_PROXY=1`, from 24.5 on).
 *
 * A failure rejects with a `TypeError` like Node's own `fetch`; its `code` and its `cause` are Node's. What this process has
 * no permission for is a `ConnectError`, and so is a server that does not speak TLS at an `https:` address. An abort rejects with the signal's reason.
 */
export function createNodeFetch(options: NodeFetchOptions = {}): NodeFetch {
  const { lookup, ca, keepAlive = 4_000 } = options;
  const proxyEnv = proxyOf(http.globalAgent);
  const way = lookup ? { lookup } : proxyEnv && { proxyEnv };
  const shared = { keepAlive: true, timeout: keepAlive, ...way };
  const plain = new http.Agent(shared);
  const secure = new https.Agent(ca ? { ...shared, ca } : shared);
  const endOld = [endInTime(plain, keepAlive), endInTime(secure, keepAlive)];
  const send: Fetch = (address, init) =>
    new Promise((resolve, reject) => {
      init.signal?.throwIfAborted();
      const url = new URL(address);
      const isSecure = url.protocol === "https:";
      if (!isSecure && url.protocol !== "http:") {
        throw new TypeError(`Cannot fetch "${url.protocol}": use http or https`);
      }
      const headers = readHeaders(init.headers);
      // As Node's own fetch does: many a firewall lets nobody in without a name.
      if (!headers.has("user-agent")) headers.set("user-agent", "node");
      const body = bodyOf(init.body, headers);
      const options = {
        agent: isSecure ? secure : plain,
        method: init.method ?? "GET",
        headers: Object.fromEntries(headers),
      };
      for (const end of endOld) end();
      const request = (isSecure ? https : http).request(url, options);
      new Reply(request, url, init, { resolve, reject }).listen();
      if (body === undefined || body instanceof Uint8Array) request.end(body);
      else pipeline(Readable.from(body), request, () => {});
    });
  return {
    fetch: send,
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

/**
 * Ends idle connections in time. Timers do that as well, but they are late where the program itself was at work for seconds: by
 * then the server has ended them, and a request on such a one breaks.
 *
 * @param keepAlive How long one is kept, in milliseconds.
 * @returns Ends those that are too old: to be called before each request.
 */
function endInTime(agent: http.Agent, keepAlive: number): () => void {
  const ends = new WeakMap<object, number>();
  let next = Infinity;
  agent.on("free", (socket: { readonly timeout?: number }) => {
    // The server may have asked for less.
    const end = performance.now() + (socket.timeout || keepAlive);
    ends.set(socket, end);
    next = Math.min(next, end);
  });
  return () => {
    const now = performance.now();
    if (now < next) return;
    next = Infinity;
    for (const socket of Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? [])) {
      const end = ends.get(socket) ?? now;
      if (end <= now) {
        socket.destroy();
        // Else the agent may still hand it out: it is told of its end later.
        socket.emit("agentRemove");
      } else next = Math.min(next, end);
    }
  };
}

interface Outcome<T = Response> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** A body that is gathered in one piece, and who waits for it. */
interface Whole {
  readonly bytes: Uint8Array<ArrayBuffer>;
  at: number;
  readonly outcome: Outcome<ArrayBuffer>;
  /** Gives back what was copied. */
  readonly used: UsedChunks | undefined;
}

/** Bytes that wait for a reader before the server is held back. */
const queuedBytes = 65_536;
/** Up to here the chunks of one tick are joined. */
const joinedBytes = 32_768;
/** What others hand over as Node's chunks may be somebody else's memory. */
const isNode = !("Bun" in globalThis || "Deno" in globalThis);
/** From here on the memory of chunks is worth the work to give it back early. */
const manyBytes = 2 ** 20;
/** So much is taken in one piece of memory when a server says that it will come. */
const wholeBytes = 2 ** 26;

/** One request on its way: from the first byte out to the last byte in. */
class Reply {
  readonly #request: ClientRequest;
  readonly #url: URL;
  readonly #init: RequestInit;
  readonly #outcome: Outcome;
  #source: Readable | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** What came in and nobody has asked for. */
  #queue: Uint8Array<ArrayBuffer>[] = [];
  #queued = 0;
  /** A read waits for bytes. */
  #wanted = false;
  /** The bytes go in one piece to who asked for all of them. */
  #whole: Whole | undefined;
  #answered = false;
  #ended = false;
  #over = false;

  constructor(request: ClientRequest, url: URL, init: RequestInit, outcome: Outcome) {
    this.#request = request;
    this.#url = url;
    this.#init = init;
    this.#outcome = outcome;
  }

  listen(): void {
    this.#init.signal?.addEventListener("abort", this.#abort, { once: true });
    this.#request.on("error", (error) => this.#fail(error));
    this.#request.on("close", () => {
      if (!this.#answered) this.#fail(new Error("the connection closed without a reply"));
    });
    this.#request.on("response", (incoming) => {
      try {
        this.#respond(incoming);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  readonly #abort = (): void => this.#fail(this.#init.signal?.reason, true);

  #respond(incoming: IncomingMessage): void {
    this.#answered = true;
    const status = incoming.statusCode ?? 0;
    const headers = headersOf(incoming);
    const isEmpty = this.#init.method === "HEAD" || status === 204 || status === 205 || status === 304;
    const init = { status, statusText: incoming.statusMessage ?? "", headers };
    const response = new Response(isEmpty ? null : this.#body(incoming), init);
    Object.defineProperty(response, "url", { value: this.#url.href });
    if (isEmpty) incoming.on("end", () => this.#done()).on("error", (error) => this.#fail(error)).resume();
    const length = Number(incoming.headers["content-length"]);
    if (this.#source === incoming && length <= wholeBytes && !incoming.headers["transfer-encoding"]) {
      Object.defineProperty(response, "arrayBuffer", { value: () => this.#readWhole(response, incoming, length) });
    }
    this.#outcome.resolve(response);
  }

  #body(incoming: IncomingMessage): ReadableStream<Uint8Array> {
    const source = this.#source = unpack(incoming, (error) => this.#fail(error));
    source.on("data", (chunk: Uint8Array<ArrayBuffer>) => this.#take(chunk));
    source.on("end", () => {
      if (this.#over) return;
      this.#done();
      this.#ended = true;
      this.#flush();
    });
    source.on("error", (error) => this.#fail(error));
    return new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      pull: () => {
        this.#wanted = true;
        this.#flush();
      },
      cancel: () => {
        this.#controller = undefined;
        this.#queue = [];
        if (this.#over) return;
        this.#done();
        this.#request.destroy();
      },
    }, { highWaterMark: 0 });
  }

  #take(chunk: Uint8Array<ArrayBuffer>): void {
    if (this.#over) return;
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    if (this.#whole) return this.#fill(this.#whole);
    // What comes in one tick goes on in one piece: a server's many small chunks are read at once.
    if (this.#wanted && this.#queue.length === 1) process.nextTick(() => this.#flush());
    if (this.#queued >= queuedBytes) this.#source?.pause();
  }

  /** Hands over what has come, to the read that waits for it. */
  #flush(): void {
    if (this.#whole) return this.#fill(this.#whole);
    const queue = this.#queue;
    const [first] = queue;
    if (first && this.#wanted) {
      this.#wanted = false;
      const isSmall = this.#queued <= joinedBytes;
      this.#queue = [];
      this.#queued = 0;
      // Large ones would be in memory twice.
      for (const piece of isSmall && queue.length > 1 ? [Buffer.concat(queue)] : queue) {
        this.#controller?.enqueue(piece);
      }
      this.#source?.resume();
    }
    if (!this.#ended || this.#queue.length) return;
    // It was closed already where the read that the bytes went to has asked for more at once.
    const controller = this.#controller;
    this.#controller = undefined;
    controller?.close();
  }

  /** All bytes, without the way through a stream: they are in memory once. */
  #readWhole(response: Response, { socket }: IncomingMessage, length: number): Promise<ArrayBuffer> {
    const isBroken = this.#over && !this.#ended;
    if (isBroken || response.bodyUsed || response.body?.locked) return Response.prototype.arrayBuffer.call(response);
    response.body?.getReader();
    return new Promise((resolve, reject) => {
      const used = isNode && length >= manyBytes ? new UsedChunks(socket) : undefined;
      this.#whole = { bytes: new Uint8Array(length), at: 0, outcome: { resolve, reject }, used };
      this.#fill(this.#whole);
      this.#source?.resume();
    });
  }

  #fill(whole: Whole): void {
    const { bytes, outcome, used } = whole;
    for (const chunk of this.#queue.splice(0)) {
      bytes.set(chunk, whole.at);
      whole.at += chunk.length;
      used?.add(chunk);
    }
    if (!this.#ended) return;
    used?.end();
    outcome.resolve(used?.withTransfer(bytes.buffer) ?? bytes.buffer);
  }

  /** Breaks it off in whatever phase it is. */
  #fail(error: unknown, aborted = false): void {
    if (this.#over) return;
    this.#done();
    const reason = aborted ? error : fetchError(error, this.#url, this.#request.socket);
    this.#outcome.reject(reason);
    this.#whole?.used?.end();
    this.#whole?.outcome.reject(reason);
    this.#controller?.error(reason);
    this.#request.destroy();
    this.#source?.destroy();
  }

  #done(): void {
    this.#over = true;
    this.#init.signal?.removeEventListener("abort", this.#abort);
  }
}

/** As they came; by name where they are not kept so, as in a Worker with `nodejs_compat`. */
function headersOf({ rawHeaders, headers }: IncomingMessage): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) pairs.push([rawHeaders[i] ?? "", rawHeaders[i + 1] ?? ""]);
  if (pairs.length > 0) return pairs;
  return Object.entries(headers).flatMap(([name, given = []]) =>
    [given].flat().map((text) => [name, text] as [string, string])
  );
}

/** The body as bytes or a stream; a content type that follows from its kind is added where there is none. */
function bodyOf(body: RequestInit["body"], headers: Headers): Uint8Array | ReadableStream | undefined {
  if (body === null || body === undefined) return undefined;
  if (body instanceof Uint8Array) return body;
  const carrier = new Response(body);
  const type = typeof body === "string" ? "text/plain;charset=UTF-8" : carrier.headers.get("content-type");
  if (type !== null && !headers.has("content-type")) headers.set("content-type", type);
  if (typeof body === "string") return Buffer.from(body);
  return carrier.body ?? undefined;
}

/** The reply's bytes without their content encoding. An encoding that is unknown is left as it is. */
function unpack(incoming: IncomingMessage, fail: (error: Error) => void): Readable {
  const names = (incoming.headers["content-encoding"] ?? "").toLowerCase().split(",").map((name) => name.trim());
  const known = names.filter((name) => name !== "" && name !== "identity")
    .map((name) => Object.hasOwn(unpackers, name) ? unpackers[name] : undefined);
  let source: Readable = incoming;
  for (const make of known.every(Boolean) ? known.reverse() : []) {
    if (make) source = source.on("error", fail).pipe(make());
  }
  return source;
}

const unpackers: Readonly<Record<string, () => Transform>> = {
  "gzip": () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  "deflate": () => zlib.createInflate(),
  "br": () => zlib.createBrotliDecompress(),
};

/**
 * As Node's own `fetch` tells it, with the `code` at hand; by its class where `node --permission` lets nothing out, and where a
 * connection that is to be encrypted broke before it was.
 */
function fetchError(cause: unknown, { origin }: URL, socket: object | null): Error {
  const { message = "", code, syscall } = cause as { message?: string; code?: string; syscall?: string };
  // Who is not there at all, at one address or at several, has a code of that, and so has a certificate that is not trusted.
  const isAbsent = /^(connect|getaddrinfo)/.test(syscall ?? "") || cause instanceof AggregateError;
  const isKnown = isAbsent || /CERT|VERIFY/.test(code ?? "");
  if (socket && "secureConnecting" in socket && socket.secureConnecting && !isKnown) {
    const why = "no encrypted connection came about; check the address, and that the server speaks https:";
    return new ConnectError(`Cannot connect to "${origin}" (${code}): ${why}`, { cause, retryable: true });
  }
  if (code === "ERR_ACCESS_DENIED") {
    const why = "this process may not connect there; run Node with --allow-net";
    return new ConnectError(`Cannot connect to "${origin}": ${why}`, { cause });
  }
  return Object.assign(new TypeError(`fetch failed: ${message || code}`, { cause }), { code, syscall });
}
