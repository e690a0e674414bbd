/**
 * The ports filled with Node's own means.
 *
 * @module
 */
import http from "node:http";
import { patientClock, systemClock } from "../ports.ts";
import type { Clock, OpenWebSocket, Resolve } from "../ports.ts";
import { systemResolve } from "./children/child.ts";
import { proxyOf } from "./node_proxy.ts";
import { openSocketWith, openWebSocketWithHeaders } from "./sockets/headed_web_socket.ts";
import type { WebSocketClass } from "./sockets/web_socket.ts";

export { baseEnvironment } from "./children/node_environment.ts";
export { createNodeFetch } from "./node_fetch.ts";
export type { NodeFetch, NodeFetchOptions } from "./node_fetch.ts";
export { nodeSpawn } from "./children/node_spawn.ts";

/** The system's clock. */
export const clock: Clock = patientClock(systemClock);

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;

/**
 * Opens a WebSocket: by the package `ws` where there is one, which bounds what a server sends and takes nothing compressed (a few
 * bytes could become gigabytes); else, and through a proxy of the environment, by Node's own class (Node 22 and later).
 *
 * @throws {ConnectError} When there is neither, a header cannot be sent, or no connection comes about.
 */
export const openWebSocket: OpenWebSocket = async (url, asked) => {
  const Package = proxyOf(http.globalAgent) ? undefined : await loadWebSocket();
  if (!Package) return await openWebSocketWithHeaders(url, asked);
  const { protocols, headers } = asked;
  return await openSocketWith(url, { protocols, headers }, asked, Package);
};

/** The package is named where its absence is caught: a bundler that does not find it goes on without it. */
async function loadWebSocket(): Promise<WebSocketClass | undefined> {
  try {
    const { WebSocket } = await import("ws");
    return (await import("./sockets/node_web_socket.ts")).nodeWebSocketOf(WebSocket);
  } catch {
    return undefined;
  }
}
