/**
 * The core for the runtime that it finds itself in: Bun, Deno or Node.
 *
 * @module
 */
import type { Client } from "../client/client.ts";
import type { Resolve, SqlDatabase } from "../ports.ts";
import type { OpenDatabaseOptions } from "../runtime/sql/file_database.ts";
import type { Connect } from "./connect.ts";
import { createOpenHub } from "./hub.ts";
import type { OpenHub } from "./hub.ts";
import type { HttpHost, ServeHttp } from "./serve_http.ts";
import type { ChannelServer, ServeStdio } from "./serve_stdio.ts";

export * from "./core.ts";
export * from "./hub.ts";
export type { HttpHost, RequestHandler, ServeHttp, ServeHttpOptions, WebSocketDoor } from "./serve_http.ts";
export type { ChannelServer, ChannelServerOptions, Servable, ServeStdio } from "./serve_stdio.ts";
export { authorizeInBrowser } from "./sign_in/authorize_in_browser.ts";
export type { BrowserSignInOptions } from "./sign_in/authorize_in_browser.ts";
export { createFileStore } from "../runtime/stores/file_store.ts";
export type { FileStore, FileStoreOptions } from "../runtime/stores/file_store.ts";
export type { OpenDatabaseOptions } from "../runtime/sql/file_database.ts";
export type { SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../ports.ts";

/**
 * Connects to one MCP server: a URL, a command, a transport or a snapshot. The runtime's ports are loaded with the first call.
 *
 * @throws {TypeError} When the target is none of these.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = async (target, options): Promise<Client> => {
  const { connect } = "Bun" in globalThis
    ? await import("./bun.ts")
    : "Deno" in globalThis
    ? await import("./deno.ts")
    : await import("./node.ts");
  return await connect(target, options);
};

/**
 * Connects to many MCP servers, side by side: answers with what works, and `errors` and `status()` tell of the rest.
 *
 * @param config The servers by their names, or `{ mcpServers }`.
 * @returns The hub: close it, or use `await using`.
 */
export const openHub: OpenHub = createOpenHub(connect);

/**
 * Serves one client over this process's own standard input and output, until the input ends: then requests in work get
 * 200 ms (`drainTimeout`) to finish, and nothing of it keeps the process alive any more. From the start on `console.log` and
 * the like write to the standard error, since the standard output belongs to the protocol.
 *
 * @returns What serves: `closed` resolves at the end.
 */
export const serveStdio: ServeStdio = async (server, options): Promise<ChannelServer> => {
  const { serveStdio } = await import("./serve_stdio.ts");
  return await serveStdio(server, options);
};

/**
 * Serves HTTP with a handler, in the way of the runtime: as `serveHttp` of `./bun`, `./deno` and `./node`.
 *
 * @returns The host: `close()` ends it.
 * @throws {TypeError} When it is to serve WebSockets on Node, and the package `ws` is not installed.
 */
export const serveHttp: ServeHttp = async (handler, options): Promise<HttpHost> => {
  const { serveHttp } = "Bun" in globalThis
    ? await import("./bun.ts")
    : "Deno" in globalThis
    ? await import("./deno.ts")
    : await import("./node.ts");
  return await serveHttp(handler, options);
};

/**
 * Resolves a name with the system's resolver: the `resolve` of `createOAuth`, for who signs in before they connect.
 *
 * @throws {ConnectError} When the name is unknown, or the resolver does not answer.
 */
export const resolve: Resolve = async (hostname): Promise<string[]> => {
  const { systemResolve } = await import("../runtime/children/child.ts");
  return await systemResolve(hostname);
};

/**
 * Opens an SQLite database, for `createRuns`: as `openDatabase` of `./bun`, `./deno` and `./node`.
 *
 * @param path A file, which is made where there is none, for this user alone; `:memory:` for one that ends with the process.
 * @throws {TypeError} When the path or an option makes no sense.
 * @throws {McpError} When it cannot be opened, is no database, or Node is older than 22.13.
 *
 * @example A place for runs
 * ```ts
 * import { createRuns } from "@causeway/mcp/agent";
 * import { openDatabase } from "@causeway/mcp/local";
 *
 * const database = await openDatabase(":memory:"); // or a file: "runs.db"
 * await using runs = createRuns({ database, agents: {} });
 * await runs.resume();
 * ```
 */
export async function openDatabase(path: string, options?: OpenDatabaseOptions): Promise<SqlDatabase> {
  const { openDatabase } = "Bun" in globalThis
    ? await import("../runtime/sql/bun_database.ts")
    : await import("../runtime/sql/node_database.ts");
  return await openDatabase(path, options);
}
