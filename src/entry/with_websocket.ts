/**
 * HTTP and WebSocket in one function, where a request alone is enough to upgrade it: on Workers and Deno.
 *
 * @module
 */
import type { WebSocketLike } from "../ports.ts";
import { wantsSocket } from "../protocol/web_socket.ts";
import type { RequestHandler, WebSocketDoor } from "./serve_http.ts";

/** Makes a WebSocket of a request in the way of a runtime. */
export type UpgradeRequest = (request: Request, accept: (socket: WebSocketLike) => unknown) => Response;

/** A handler that serves WebSockets too. */
export type WithWebSocket = (handler: RequestHandler, webSocket: WebSocketDoor) => WebSocketHandler;

/** An HTTP endpoint that serves WebSockets too. */
export interface WebSocketHandler {
  /** Answers or upgrades one request. */
  (request: Request): Promise<Response>;
  /** Ends all streams and sockets. */
  close(): void;
}

/** Makes `withWebSocket` of what a runtime has. */
export function createWithWebSocket(upgrade: UpgradeRequest): WithWebSocket {
  return (handler, webSocket) =>
    Object.assign(async (request: Request): Promise<Response> => {
      if (!wantsSocket(request)) return await handler(request);
      const admitted = await webSocket.admit(request);
      if (typeof admitted !== "function") return admitted;
      try {
        return upgrade(request, admitted);
      } catch {
        // Deno throws for a handshake that is malformed.
        return new Response(null, { status: 400 });
      }
    }, {
      close(): void {
        handler.close?.();
        void webSocket.close();
      },
    });
}
