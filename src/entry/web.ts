/**
 * The core on web standards alone: no processes.
 *
 * @module
 */
import { openWebSocket } from "../runtime/browser.ts";
import { createWebConnect } from "./connect.ts";
import type { Connect } from "./connect.ts";

/**
 * Connects to one MCP server, of whichever revision.
 *
 * Results of tools are checked against their output schemas once the tools were listed; pass `validator: undefined` to
 * leave that out.
 *
 * @param target A URL (`https:`, `http:`, `wss:`, `ws:`), a transport, or a snapshot of another client.
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = createWebConnect(() => ({ openWebSocket }));
