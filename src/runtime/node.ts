/**
 * The ports filled with Node's own means.
 *
 * @module
 */
import process from "node:process";
import type { Resolve } from "../ports.ts";
import { platform, systemResolve } from "./child.ts";
import { safeEnvironment } from "./environment.ts";

export { createNodeFetch } from "./node_fetch.ts";
export type { NodeFetch, NodeFetchOptions } from "./node_fetch.ts";
export { nodeSpawn } from "./node_spawn.ts";
export { openWebSocketWithHeaders as openWebSocket } from "./web_socket.ts";

/** The environment that a child of this process may have, with `extra` over it. */
export function baseEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return safeEnvironment(platform, process.env, extra);
}

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;
