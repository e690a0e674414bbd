/**
 * The client's end of a WebSocket by the package `ws`.
 *
 * @module
 */
import type { ClientOptions, WebSocket } from "ws";
import type { WebSocketLike } from "../../ports.ts";
import type { WebSocketClass } from "./web_socket.ts";

/** How long the other side may take to answer a goodbye, in milliseconds: it keeps the process alive. */
const closeTimeout = 2_000;

/** Makes of the class of `ws` one with the constructor that Bun, Deno and newer Nodes have. */
export function nodeWebSocketOf(Base: typeof WebSocket): WebSocketClass {
  class Socket extends Base {
    constructor(url: string, options: unknown) {
      const { protocols, headers } = options as { protocols: string[]; headers?: Record<string, string> }; // Of `node.ts`.
      // As Node's own class, it gives a name: many a firewall lets nobody in without one.
      const named = { "user-agent": "node", ...headers };
      const more: ClientOptions & { closeTimeout: number } = { perMessageDeflate: false, closeTimeout, headers: named };
      super(url, protocols, more);
      // What came with the handshake would be told before those who wait for the socket have it.
      this.once("open", () => {
        this.pause();
        setImmediate(() => this.resume());
      });
    }
  }
  return Socket as unknown as new (url: string, options: unknown) => WebSocketLike;
}
