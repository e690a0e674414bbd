/**
 * The ports filled with Bun's own means.
 *
 * @module
 */
import type { Resolve } from "../ports.ts";
import { systemResolve } from "./children/child.ts";

export { bunSpawn } from "./children/bun_spawn.ts";
export { baseEnvironment } from "./children/node_environment.ts";
export { openWebSocketWithHeaders as openWebSocket } from "./web_socket.ts";

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;
