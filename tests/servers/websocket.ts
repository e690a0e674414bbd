/**
 * The fake peers over WebSocket (a custom transport: subprotocol `mcp`, one JSON-RPC message in one text frame): one
 * function per host.
 *
 * @module
 */
import { createPipeServer, type PipeOptions, type PipeServer } from "./pipe.ts";

/** What a server over WebSocket lets one choose. */
export interface WebSocketServerOptions extends Omit<PipeOptions, "send" | "exit"> {
  /** Hears of each server that a new connection gets. */
  connected?(server: PipeServer): void;
}

/** The part of `Bun.serve`'s server that is used. */
export interface BunUpgrader {
  upgrade(request: Request, options: { headers?: HeadersInit; data: BunSocketData }): boolean;
}

/** What a Bun socket carries. */
export interface BunSocketData {
  readonly options: WebSocketServerOptions;
  server: PipeServer | undefined;
}

/** The part of Bun's socket that is used. */
export interface BunSocket {
  readonly data: BunSocketData;
  send(text: string): unknown;
  close(code?: number, reason?: string): void;
}

/** What `Bun.serve({ websocket })` takes. */
export interface BunSocketHandlers {
  open(socket: BunSocket): void;
  message(socket: BunSocket, message: unknown): void;
  close(socket: BunSocket): void;
  maxPayloadLength: number;
}

/** Upgrades a request on Bun; undefined when it is done, a reply when it cannot be. */
export function upgradeBun(
  request: Request,
  upgrader: BunUpgrader,
  options: WebSocketServerOptions,
): Response | undefined {
  const protocol = subprotocol(request);
  if (protocol === undefined) return refusal();
  const headers = { "sec-websocket-protocol": protocol };
  return upgrader.upgrade(request, { headers, data: { options, server: undefined } }) ? undefined : refusal();
}

/** The handlers for `Bun.serve`. */
export const bunSocketHandlers: BunSocketHandlers = {
  maxPayloadLength: 64 * 2 ** 20,
  open(socket) {
    socket.data.server = serve(socket, socket.data.options);
  },
  message(socket, message) {
    if (typeof message === "string") socket.data.server?.receive(message);
    else socket.close(1003, "text frames only");
  },
  close(socket) {
    socket.data.server?.close();
  },
};

/** Upgrades a request on Deno. */
export function upgradeDeno(request: Request, options: WebSocketServerOptions): Response {
  if (subprotocol(request) === undefined) return refusal();
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "mcp" });
  socket.addEventListener("open", () => listen(socket, options), { once: true });
  return response;
}

/** Upgrades a request in workerd. */
export function upgradeWorkerd(request: Request, options: WebSocketServerOptions): Response {
  if (subprotocol(request) === undefined) return refusal();
  const pair = new WebSocketPair();
  pair[1].accept();
  listen(pair[1], options);
  const init = { status: 101, webSocket: pair[0], headers: { "sec-websocket-protocol": "mcp" } };
  return new Response(null, init);
}

/** The sockets of workerd: ordinary ones that have to be accepted first. */
interface WorkerdSocket extends WebSocket {
  accept(): void;
}

declare const WebSocketPair: new () => { 0: WorkerdSocket; 1: WorkerdSocket };

function subprotocol(request: Request): string | undefined {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return undefined;
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",").map((item) => item.trim());
  return offered.includes("mcp") ? "mcp" : undefined;
}

function refusal(): Response {
  return new Response('A WebSocket with the subprotocol "mcp" is wanted', {
    status: 426,
    headers: { upgrade: "websocket" },
  });
}

function serve(
  socket: { send(text: string): unknown; close(code?: number, reason?: string): void },
  options: WebSocketServerOptions,
): PipeServer {
  const server = createPipeServer({
    ...options,
    send: (text) => void socket.send(text),
    exit: () => socket.close(1011, "unexpected request before initialize"),
  });
  options.connected?.(server);
  return server;
}

function listen(socket: WebSocket, options: WebSocketServerOptions): void {
  let open = true;
  const server = serve({
    send: (text) => {
      if (open) socket.send(text);
    },
    close: (code, reason) => socket.close(code, reason),
  }, options);
  socket.addEventListener("message", (event: MessageEvent<unknown>) => {
    if (typeof event.data === "string") server.receive(event.data);
    else socket.close(1003, "text frames only");
  });
  const end = () => {
    open = false;
    server.close();
  };
  socket.addEventListener("close", end);
  socket.addEventListener("error", end);
}
