/**
 * The core for Bun: processes, WebSockets and the rest of the ports are filled in.
 *
 * @example Call a tool of a local server
 * ```ts ignore with=npx
 * import { connect } from "@causeway/mcp/bun";
 *
 * await using client = await connect({ command: "npx", args: ["-y", "@modelcontextprotocol/server-everything"] });
 * console.log(await client.callTool("get-sum", { a: 1, b: 2 }));
 * ```
 *
 * @module
 */
import { baseEnvironment, bunFetch, bunSpawn, clock, openWebSocket, resolve } from "../runtime/bun.ts";
import { listenBun } from "../runtime/serve/bun.ts";
import { createConnect } from "./connect.ts";
import type { Connect } from "./connect.ts";
import { createOpenHub } from "./hub.ts";
import type { OpenHub } from "./hub.ts";
import { createServeHttp } from "./serve_http.ts";
import type { ServeHttp } from "./serve_http.ts";

export * from "./core.ts";
export * from "./hub.ts";
export { resolve };
export type { HttpHost, RequestHandler, ServeHttp, ServeHttpOptions, WebSocketDoor } from "./serve_http.ts";
export { serveStdio } from "./serve_stdio.ts";
export { authorizeInBrowser } from "./sign_in/authorize_in_browser.ts";
export type { BrowserSignInOptions } from "./sign_in/authorize_in_browser.ts";
export { createFileStore } from "../runtime/stores/file_store.ts";
export type { FileStore, FileStoreOptions } from "../runtime/stores/file_store.ts";
export { openDatabase } from "../runtime/sql/bun_database.ts";
export type { OpenDatabaseOptions } from "../runtime/sql/file_database.ts";
export type { SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../ports.ts";
export type { ChannelServer, ChannelServerOptions, Servable, ServeStdio } from "./serve_stdio.ts";

/**
 * Connects to one MCP server: a URL, a command, a transport or a snapshot. As `connect` of `@causeway/mcp`, with processes.
 *
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = createConnect(() => ({
  clock,
  fetch: bunFetch,
  spawn: bunSpawn,
  environment: baseEnvironment,
  openWebSocket,
}), resolve);

/**
 * Connects to many MCP servers, side by side: answers with what works, and `errors` and `status()` tell of the rest.
 *
 * @param config The servers by their names, or `{ mcpServers }`.
 * @returns The hub: close it, or use `await using`.
 */
export const openHub: OpenHub = createOpenHub(connect);

/**
 * Serves HTTP and WebSockets with a handler: the endpoint of `createHandler`, or the `fetch` of a Hono application.
 *
 * It listens at `127.0.0.1` alone unless `hostname` says otherwise.
 *
 * @param handler What answers requests; it is closed with the host.
 * @returns The host: `close()` ends it.
 * @throws {TypeError} When an option makes no sense.
 *
 * @example A server in three lines
 * ```ts ignore with=nothing
 * import { serveHttp } from "@causeway/mcp/bun";
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", {}, () => "hello");
 * await using host = await serveHttp(createHandler(server), { port: 0 }); // without a port: 8080
 * console.assert(host.url.startsWith("http://127.0.0.1:"));
 * ```
 */
export const serveHttp: ServeHttp = createServeHttp(listenBun);
