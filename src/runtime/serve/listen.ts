/**
 * What is asked of a runtime that serves HTTP and WebSockets.
 *
 * @module
 */
import type { WebSocketLike } from "../../ports.ts";

/** What an HTTP server of a runtime serves. */
export interface HttpServing {
  /** Answers one request. Never rejects. Its `signal` is aborted when the client is gone. */
  answer(request: Request): Promise<Response>;
  /**
   * Judges a request for a WebSocket with the subprotocol `mcp`: gives what takes the socket, or the reply that sends it
   * away. Undefined where no WebSockets are served. Never rejects.
   */
  readonly admit: ((request: Request) => Promise<((socket: WebSocketLike) => unknown) | Response>) | undefined;
  /** The most that one frame may have, in bytes. */
  readonly messageBytes: number;
}

/** An HTTP server of a runtime, listening. */
export interface HttpListener {
  readonly hostname: string;
  readonly port: number;
  /** Takes no further connections, and ends those that are left after `grace` milliseconds. */
  close(grace: number): Promise<void>;
}

/** Starts an HTTP server. Rejects in the runtime's own words when it cannot listen there. */
export type ListenHttp = (serving: HttpServing, at: { hostname: string; port: number }) => Promise<HttpListener>;

/**
 * How long a WebSocket may be silent before the other side is asked whether it is there, in seconds: what lies between ends it
 * after less than a minute, as HAProxy (50 s), nginx and most load balancers (60) do.
 */
export const socketSilence = 30;
