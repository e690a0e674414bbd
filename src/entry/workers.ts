/**
 * The core for Cloudflare Workers: WebSockets that can carry headers, and limits for an isolate of 128 MB. A connection
 * belongs to the request that made it: connect and close within one, or keep the client in a Durable Object.
 *
 * @module
 */
import { workersLimits } from "../protocol/limits.ts";
import { openWebSocket } from "../runtime/workers.ts";
import { createWebConnect } from "./connect.ts";
import type { Connect } from "./connect.ts";

export * from "./core.ts";

/**
 * Connects to one MCP server from a Worker. As `connect` of `@causeway/mcp`.
 *
 * @throws {TypeError} When the target is no URL, transport or snapshot.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = createWebConnect(() => ({ openWebSocket, limits: workersLimits }));
