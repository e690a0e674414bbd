/**
 * The core on web standards alone: no processes.
 *
 * @module
 */
import { openWebSocket } from "../runtime/browser.ts";
import { createWebConnect } from "./connect.ts";
import type { Connect } from "./connect.ts";
import { createOpenHub } from "./hub.ts";
import type { OpenHub } from "./hub.ts";

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

/**
 * Connects to many MCP servers, side by side: answers with what works, and `errors` and `status()` tell of the rest.
 *
 * @param config The servers by their names, or `{ mcpServers }`.
 * @returns The hub: close it, or use `await using`.
 */
export const openHub: OpenHub = /* @__PURE__ */ createOpenHub(connect);
