/**
 * Which requests may become a WebSocket, and what serves the sockets.
 *
 * @module
 */
import { systemClock } from "../../ports.ts";
import type { Clock, WebSocketLike } from "../../ports.ts";
import { offersMcp, subprotocol, wantsSocket } from "../../protocol/web_socket.ts";
import { ownMethods } from "../callers/own.ts";
import type { Caller, CallerServers } from "../callers/seam.ts";
import { serveChannel } from "../channel_server.ts";
import type { ChannelServer, ChannelServerOptions } from "../channel_server.ts";
import type { AuthInfo } from "../definitions.ts";
import { Guards, isReply } from "../http/guards.ts";
import type { HttpOptions } from "../http/options.ts";
import { errorAnswer } from "../modern/answers.ts";
import { closing, internalError, json, notAllowed, refuse } from "../http/replies.ts";
import { createSafeLogger } from "../../egress/safe_logger.ts";
import type { Servable } from "../serving.ts";
import { createSocketChannel } from "./channel.ts";

/** Options of {@linkcode createSocketEndpoint}. */
export interface SocketEndpointOptions
  extends Omit<ChannelServerOptions, "auth" | "modern">, Pick<HttpOptions, "allowedHosts" | "allowedOrigins" | "auth"> {
  /** The path that is served (`/mcp`). Default: each. */
  path?: string | undefined;
  /** The most sockets at one time (1,000). Further ones get 503. */
  maxSockets?: number | undefined;
}

/** Serves an accepted socket. Call it once, in the tick in which the socket is there. */
export type AcceptSocket = (socket: WebSocketLike) => ChannelServer;

/** Judges requests for WebSockets, and serves the sockets: one client each. */
export interface SocketEndpoint {
  /**
   * Looks at a request before it is upgraded: Host, Origin, subprotocol, who it is. Never rejects.
   *
   * @returns What serves the socket, or the reply that sends the request away.
   */
  admit(request: Request): Promise<AcceptSocket | Response>;
  /** The most that one frame may have, in characters: for runtimes that can bound it themselves. */
  readonly messageBytes: number | undefined;
  /** Ends all sockets: streams of changes get their results. Requests that come later get 503. */
  close(): Promise<void>;
}

/**
 * Makes the endpoint for WebSockets of what is served: hand it to `serveHttp` of `./bun`, `./deno` or `./node`, or to `withWebSocket`
 * of `./workers` or `./deno`.
 *
 * Pages and names of other machines are refused unless `allowedOrigins` and `allowedHosts` name them, as over HTTP.
 *
 * @param server What is served; with `perCaller` each socket is served with a server of its caller's.
 * @throws {TypeError} When an option makes no sense.
 * @throws {RangeError} When `maxSockets` is no number.
 *
 * @example One server on HTTP and WebSocket
 * ```ts
 * import { connect, serveHttp } from "@causeway/mcp/local";
 * import { createHandler, createSocketEndpoint, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * const webSocket = createSocketEndpoint(server);
 * await using host = await serveHttp(createHandler(server), { port: 0, webSocket });
 * await using client = await connect(`ws://127.0.0.1:${host.port}/mcp`);
 * await client.ping();
 * ```
 */
export function createSocketEndpoint(
  server: Servable | CallerServers,
  options: SocketEndpointOptions = {},
): SocketEndpoint {
  return new Endpoint(server, options);
}

class Endpoint implements SocketEndpoint {
  readonly messageBytes: number | undefined;
  readonly #server: Servable | CallerServers;
  readonly #options: SocketEndpointOptions;
  readonly #guards: Guards;
  readonly #clock: Clock;
  readonly #most: number;
  readonly #sockets = new Set<ChannelServer>();
  #closed = false;

  constructor(server: Servable | CallerServers, options: SocketEndpointOptions) {
    this.#server = server;
    this.#options = options;
    this.#guards = new Guards(options);
    this.#clock = options.clock ?? systemClock;
    this.#most = options.maxSockets ?? 1_000;
    // What cannot be compared would be no bound.
    if (!(this.#most >= 0)) {
      throw new RangeError(`"maxSockets" is ${String(this.#most)}, expected a number, 0 or more`);
    }
    this.messageBytes = options.limits?.messageBytes;
  }

  async admit(request: Request): Promise<AcceptSocket | Response> {
    const refused = this.#guards.refuse(request) ?? this.#refuse(request);
    if (refused) return refused;
    try {
      const auth = await this.#options.auth?.(request);
      if (isReply(auth)) return auth;
      const server = "of" in this.#server ? await this.#serverOf(this.#server, { auth, request }) : this.#server;
      if (!("methods" in server)) return server;
      return this.#hasNoRoom() ?? ((socket) => this.#serve(socket, server, auth));
    } catch (error) {
      const logger = createSafeLogger(this.#options.logger);
      logger?.({ level: "error", message: "A WebSocket could not be judged", fields: { error } });
      return json(internalError(undefined), 500);
    }
  }

  /** The server of a caller, or the reply of who has none for them. */
  async #serverOf(servers: CallerServers, caller: Caller): Promise<Servable | Response> {
    try {
      const { methods } = await servers.of(caller);
      return { methods: ownMethods(methods) };
    } catch (error) {
      const told = errorAnswer(0, error);
      if (!told?.response.error) throw error;
      const { status, response: { error: { code, message, data } } } = told;
      // Without a message that it answers there is no other way to say no.
      const refused = refuse(status === 200 ? 400 : status, message, { code, ...(data !== undefined && { data }) });
      return this.#options.auth?.complete?.(refused, caller.auth) ?? refused;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#sockets].map((serving) => serving.close()));
  }

  #refuse(request: Request): Response | undefined {
    const { path } = this.#options;
    if (path !== undefined && new URL(request.url).pathname !== path) return refuse(404, "There is nothing here");
    if (!wantsSocket(request)) {
      return refuse(426, "A WebSocket is wanted here", { headers: { upgrade: "websocket", connection: "upgrade" } });
    }
    if (request.method !== "GET") return notAllowed("GET");
    if (!offersMcp(request)) return refuse(400, `The subprotocol "${subprotocol}" has to be offered`);
    return this.#hasNoRoom();
  }

  #hasNoRoom(): Response | undefined {
    if (this.#closed) return closing();
    if (this.#sockets.size < this.#most) return undefined;
    return refuse(503, "Too many sockets are open", { code: -32603, headers: { "retry-after": "60" } });
  }

  #serve(socket: WebSocketLike, server: Servable, auth: AuthInfo | undefined): ChannelServer {
    const { limits, clock } = this.#options;
    const channel = createSocketChannel(socket, { messageBytes: limits?.messageBytes, clock });
    const serving = serveChannel(server, channel, { ...this.#options, auth });
    this.#sockets.add(serving);
    const letGo = this.#endWith(serving, auth);
    void serving.closed.then(() => {
      letGo();
      this.#sockets.delete(serving);
    });
    // Between the handshake and its socket others may have come.
    if (this.#closed || this.#sockets.size > this.#most) void serving.close();
    return serving;
  }

  /** A socket lives no longer than the proof of who is at its other end. */
  #endWith(serving: ChannelServer, auth: AuthInfo | undefined): () => void {
    if (auth?.expiresAt === undefined) return () => {};
    const left = Math.max(0, auth.expiresAt - this.#clock.now());
    return this.#clock.schedule(() => void serving.close(), left, { background: true });
  }
}
