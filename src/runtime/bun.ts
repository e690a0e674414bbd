/**
 * The ports filled with Bun's own means.
 *
 * @module
 */
import process from "node:process";
import { patientClock, systemClock } from "../ports.ts";
import type { Clock, Fetch, OpenWebSocket, Resolve } from "../ports.ts";
import { proxyFor } from "./sockets/bun_proxy.ts";
import { systemResolve } from "./children/child.ts";
import { openSocketWith } from "./sockets/headed_web_socket.ts";

export { bunSpawn } from "./children/bun_spawn.ts";
export { baseEnvironment } from "./children/node_environment.ts";

/** The system's clock. */
export const clock: Clock = patientClock(systemClock);

/** The global fetch without its own end to what is silent for five minutes: how long that may be is the client's to say. */
export const bunFetch: Fetch = (url, init) => globalThis.fetch(url, { ...init, timeout: false } as RequestInit);

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;

/**
 * Opens a WebSocket by Bun's own class, with headers, and through the proxy of the environment. Nothing that comes may be compressed: a few
 * bytes could become gigabytes.
 *
 * @throws {ConnectError} When a header cannot be sent, or no connection comes about.
 */
export const openWebSocket: OpenWebSocket = async (url, asked) => {
  const { protocols, headers } = asked;
  // Where it is no URL, opening it says so.
  const proxy = await proxyFor(url, process.env).catch(() => undefined);
  const options = { protocols, ...(headers && { headers }), ...(proxy && { proxy }), perMessageDeflate: false };
  return await openSocketWith(url, options, asked);
};
