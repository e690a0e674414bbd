/**
 * The ports filled with Node's own means.
 *
 * @module
 */
import type { OpenWebSocket, Resolve } from "../ports.ts";
import { systemResolve } from "./children/child.ts";
import { openSocket, openWebSocketWithHeaders } from "./web_socket.ts";
import type { WebSocketClass } from "./web_socket.ts";

export { baseEnvironment } from "./children/node_environment.ts";
export { createNodeFetch } from "./node_fetch.ts";
export type { NodeFetch, NodeFetchOptions } from "./node_fetch.ts";
export { nodeSpawn } from "./children/node_spawn.ts";

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;

/**
 * Opens a WebSocket: by Node's own class where there is one (Node 22 and later), else by the package `ws`.
 *
 * @throws {ConnectError} When there is neither, or no connection comes about.
 */
export const openWebSocket: OpenWebSocket = async (url, options) => {
  if (globalThis.WebSocket) return await openWebSocketWithHeaders(url, options);
  const { protocols, headers, signal } = options;
  return await openSocket(url, { protocols, headers }, signal, await loadWebSocket());
};

/** The package is named where its absence is caught: a bundler that does not find it goes on without it. */
async function loadWebSocket(): Promise<WebSocketClass | undefined> {
  try {
    const { WebSocket } = await import("ws");
    return (await import("./node_web_socket.ts")).nodeWebSocketOf(WebSocket);
  } catch {
    return undefined;
  }
}
