/**
 * Faults that no `Response` can express: made on a raw socket, for Bun, Deno and Node. Tests that use it are named
 * `*_local_test.ts`.
 *
 * @module
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  createHostileServer,
  type FaultName,
  type HostileOptions,
  type HostileServer,
  isFaultName,
} from "./hostile.ts";
import { readRequests, writeResponse } from "./http_wire.ts";
import { freePort } from "../support/free_port.ts";
import { heldRequest } from "../support/held_request.ts";

/** What goes wrong on the socket. `healthy` is right in all; a name of `hostile.ts` is that fault over a real socket. */
export type SocketFault =
  | "healthy"
  | "refused"
  | "reset-at-once"
  | "reset-before-headers"
  | "reset-after-headers"
  | "reset-mid-stream"
  | "reset-after-event-id"
  | "end-before-headers"
  | "headers-never"
  | "headers-drip"
  | "half-open"
  | "truncated-chunk"
  | "chunks-without-end"
  | "bad-chunk-size"
  | "short-length"
  | "long-body"
  | "headers-endless"
  | "status-garbage"
  | "gzip-garbage"
  | "gzip-truncated"
  | "stale-connection";

/** A hostile server on a port of its own. */
export interface HostileSocket {
  /** `http://127.0.0.1:PORT/mcp`. */
  readonly url: string;
  /** The server behind it: its ledger, and what was executed. */
  readonly server: HostileServer;
  /** How often the fault was given. */
  hits(): number;
  /** Connections that are open now. */
  open(): number;
  /** Connections that were ever made. */
  accepted(): number;
  /** Connections that ended. Node makes a new one for the one that it gave up: look at this, not at `open`. */
  closed(): number;
  /** Ends it and all its connections. */
  close(): Promise<void>;
}

/** Options of {@linkcode startHostileSocket}. */
export interface HostileSocketOptions extends HostileOptions {
  /**
   * Resolves when the client has told of the next log message: what came before it has been read then. A system forgets what came
   * and was not read yet when a connection is reset. Default: after a moment.
   */
  heard?(): Promise<void>;
}

/** Starts a hostile server on a loopback port. */
export async function startHostileSocket(
  fault: SocketFault | FaultName,
  options: HostileSocketOptions = {},
): Promise<HostileSocket> {
  const spoil = isSocketFault(fault) ? socketFaults[fault] : undefined;
  const named = spoil === undefined && isFaultName(fault) ? fault : undefined;
  const healthy = named === undefined ? { times: 0 } : {}; // the fault is the socket's then
  const server = createHostileServer(named ?? "empty-202", { ...options, wire: true, ...healthy });
  const sockets = new Set<Socket>();
  const listener = createServer();
  const state: State = { fault, spoil, server, options, hits: 0, accepted: 0 };
  listener.on("connection", (socket: Socket) => {
    state.accepted++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serve(socket, state);
  });
  // At a port that was given up somebody else may listen soon.
  const port = fault === "refused" ? await freePort() : await listen(listener);
  const end = () => new Promise<void>((resolve) => listener.close(() => resolve()));
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    server,
    hits: () => named === undefined ? state.hits : server.hits(),
    open: () => sockets.size,
    accepted: () => state.accepted,
    closed: () => state.accepted - sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      if (listener.listening) await end();
    },
  };
}

interface State {
  readonly fault: SocketFault | FaultName;
  readonly spoil: Spoil | undefined;
  readonly server: HostileServer;
  readonly options: HostileSocketOptions;
  hits: number;
  accepted: number;
}

/** Writes to the socket; `answer` lets the healthy server execute the request and gives its JSON text. */
type Spoil = (socket: Socket, answer: () => Promise<string>, heard: () => Promise<void>) => void | Promise<void>;

type Spoilt = Exclude<SocketFault, "healthy" | "refused" | "reset-at-once" | "stale-connection">;

const streamHead = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
/** What a client tells of as soon as it has read so far. */
const logEvent =
  'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"read so far"}}\n\n';
const jsonHead = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

const socketFaults: Readonly<Record<Spoilt, Spoil>> = {
  "reset-before-headers": async (socket, answer) => {
    await answer();
    socket.resetAndDestroy();
  },
  "reset-after-headers": async (socket, answer) => {
    await answer();
    reset(socket, streamHead);
  },
  "reset-mid-stream": async (socket, answer) =>
    reset(socket, streamHead + chunk(`data: ${(await answer()).slice(0, 30)}`)),
  "reset-after-event-id": async (socket, answer, heard) => {
    await answer();
    // Later than the others: the id has to be known.
    reset(socket, streamHead + chunk(`id: s1_1\nretry: 1\ndata: \n\n${logEvent}`), heard());
  },
  "end-before-headers": async (socket, answer) => {
    await answer();
    socket.end();
  },
  "headers-never": () => {},
  "headers-drip": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    drip(socket, "x-drip: 1\r\n");
  },
  "half-open": async (socket, answer) => {
    await answer();
    socket.write(streamHead + chunk(`: hello\n\n${logEvent}`));
  },
  "truncated-chunk": async (socket, answer) => void socket.end(`${streamHead}fff\r\ndata: ${await answer()}`),
  "chunks-without-end": async (socket, answer) => {
    await answer();
    socket.end(streamHead + chunk(": only this\n\n"));
  },
  "bad-chunk-size": async (socket, answer) => void socket.end(`${streamHead}zz\r\ndata: ${await answer()}\n\n\r\n`),
  "short-length": async (socket, answer) => {
    const text = await answer();
    socket.end(`${jsonHead}content-length: ${text.length + 1_000}\r\n\r\n${text.slice(0, -1)}`);
  },
  "long-body": async (socket, answer) => {
    const text = await answer();
    socket.end(`${jsonHead}content-length: ${text.length - 5}\r\n\r\n${text}`);
  },
  "headers-endless": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = () => {
      while (!socket.destroyed && socket.write(`x-more: ${"x".repeat(8_000)}\r\n`));
    };
    socket.on("drain", more);
    more();
  },
  "status-garbage": (socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
  "gzip-garbage": (socket) =>
    void socket.end(`${jsonHead}content-encoding: gzip\r\ncontent-length: 14\r\n\r\nthis is no zip`),
  "gzip-truncated": (socket) => {
    const start = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab]);
    socket.write(`${jsonHead}content-encoding: gzip\r\ncontent-length: ${start.length}\r\n\r\n`);
    socket.end(start);
  },
};

function isSocketFault(name: string): name is Spoilt {
  return Object.hasOwn(socketFaults, name);
}

function chunk(text: string): string {
  return `${new TextEncoder().encode(text).length.toString(16)}\r\n${text}\r\n`;
}

/** Lets what was written leave first. */
function reset(socket: Socket, text: string, then: Promise<void> = pause(5)): void {
  socket.write(text, () => void then.then(() => socket.resetAndDestroy()));
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, milliseconds));
}

function drip(socket: Socket, text: string): void {
  const timer = setInterval(() => socket.write(text), 100);
  socket.on("close", () => clearInterval(timer));
}

function listen(listener: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(0, "127.0.0.1", () => {
      const address: AddressInfo | string | null = listener.address();
      if (address === null || typeof address === "string") reject(new Error("no port"));
      else resolve(address.port);
    });
  });
}

function serve(socket: Socket, state: State): void {
  const { fault, server, options } = state;
  const times = options.times ?? Infinity;
  if (fault === "reset-at-once" && state.hits < times) {
    state.hits++;
    return void socket.resetAndDestroy();
  }
  let served = 0;
  readRequests(socket, async (request) => {
    const gone = new AbortController();
    socket.once("close", () => gone.abort(new Error("the client left")));
    const url = `http://${request.headers.get("host") ?? "127.0.0.1"}${request.path}`;
    const make = () => {
      const { method, headers, body } = request;
      return heldRequest(url, { method, headers, signal: gone.signal, ...(method === "POST" ? { body } : {}) });
    };
    const spoilt = methodOf(request.body) === (options.on ?? "tools/call") ||
      (fault === "reset-after-event-id" && request.headers.has("last-event-id"));
    if (fault === "stale-connection" && served++ > 0 && state.hits < times) {
      state.hits++;
      return void socket.resetAndDestroy();
    }
    if (state.spoil === undefined || !spoilt || state.hits >= times) {
      return await writeResponse(socket, await server.fetch(make()));
    }
    state.hits++;
    const heard = options.heard ?? (() => pause(20));
    await state.spoil(socket, async () => await (await server.fetch(make())).text(), heard);
  });
}

function methodOf(body: string): unknown {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null && "method" in value ? value.method : undefined;
  } catch {
    return undefined;
  }
}
