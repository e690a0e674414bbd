/**
 * The core for Bun: processes, WebSockets and the rest of the ports are filled in.
 *
 * @example Call a tool of a local server
 * ```ts ignore
 * import { connect } from "@causeway/mcp/bun";
 *
 * await using client = await connect({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * console.log(await client.callTool("echo", { message: "hello" }));
 * ```
 *
 * @module
 */
import { baseEnvironment, bunSpawn, openWebSocket } from "../runtime/bun.ts";
import { createConnect } from "./connect.ts";
import type { Connect } from "./connect.ts";

export * from "./core.ts";
export { serveStdio } from "./serve_stdio.ts";
export type { ChannelServer, ChannelServerOptions, Servable, ServeStdio } from "./serve_stdio.ts";

/**
 * Connects to one MCP server: a URL, a command, a transport or a snapshot. As `connect` of `@causeway/mcp`, with processes.
 *
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = createConnect(() => ({
  spawn: bunSpawn,
  environment: baseEnvironment,
  openWebSocket,
}));
