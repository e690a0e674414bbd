/**
 * The core for Cloudflare Workers: WebSockets that can carry headers, and limits for an isolate of 128 MB. A client of a modern server
 * over HTTP may be kept for the life of the isolate and shared by its requests. Any other connection belongs to the request that made
 * it: connect and close within one, or keep the client in a Durable Object.
 *
 * @module
 */
import { fillIn, workersLimits } from "../protocol/limits.ts";
import { namedFetch, openWebSocket, upgradeWorkers } from "../runtime/workers.ts";
import { IsolateClient } from "../client/extras/isolate_client.ts";
import { webFilled } from "./connect.ts";
import type { Connect } from "./connect.ts";
import { createOpenHub } from "./hub.ts";
import type { OpenHub } from "./hub.ts";
import { createWithWebSocket } from "./with_websocket.ts";
import { connectTarget } from "./targets.ts";
import type { WithWebSocket } from "./with_websocket.ts";

export * from "./core.ts";
export * from "./hub.ts";
export type { RequestHandler, WebSocketDoor } from "./serve_http.ts";
export type { WebSocketHandler, WithWebSocket } from "./with_websocket.ts";
export { createObjectStore } from "../runtime/stores/object_store.ts";
export type { ObjectStorage, ObjectStorageSteps } from "../runtime/stores/object_store.ts";
export { createStubStore, StoreObject } from "../runtime/stores/store_object.ts";
export type { StoreObjectState, StoreStub } from "../runtime/stores/store_object.ts";
export { createObjectDatabase } from "../runtime/sql/object_database.ts";
export type { ObjectSqlStorage } from "../runtime/sql/object_database.ts";
export type { SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../ports.ts";
export { createKvStore } from "../runtime/stores/kv_store.ts";
export type { KvNamespace, KvStoreOptions } from "../runtime/stores/kv_store.ts";
export { createR2Store } from "../runtime/stores/r2_store.ts";
export type { R2Bucket, R2Store, R2StoreOptions } from "../runtime/stores/r2_store.ts";

/**
 * Connects to one MCP server from a Worker. As `connect` of `@causeway/mcp`; and each request to a modern server over HTTP has a session
 * of its own, so that requests of the isolate can share a client whose `era` is `"modern"`: wait for `connect` in one of them, and do
 * not close it.
 *
 * @throws {TypeError} When the target is no URL, transport or snapshot.
 * @throws {McpError} When the server cannot be reached, refuses, or has no revision in common.
 */
export const connect: Connect = /* @__PURE__ */ createIsolateConnect();

/**
 * Connects to many MCP servers from a Worker, side by side: answers with what works, and `errors` and `status()` tell of the
 * rest. It keeps to the six connections that a Worker has: calls and servers beyond that wait, and changes are not listened to.
 *
 * With the option `catalog`, of another hub, nothing is sent before the first call.
 *
 * @param config The servers by their names, or `{ mcpServers }`.
 * @returns The hub: close it, or use `await using`.
 */
export const openHub: OpenHub = /* @__PURE__ */ createOpenHub(connect, { concurrency: 4, parallel: 6, listen: false });

/**
 * Lets a handler serve WebSockets too. The Worker lives as long as the socket; when it is evicted, the client connects again.
 *
 * @param handler What answers all other requests.
 * @param webSocket Of `createSocketEndpoint`.
 *
 * @example One path for HTTP and WebSocket, in Hono
 * ```ts
 * import { createHandler, createSocketEndpoint, McpServer } from "@causeway/mcp/server";
 * import { withWebSocket } from "@causeway/mcp/workers";
 *
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * const handler = withWebSocket(createHandler(server), createSocketEndpoint(server));
 * export default { fetch: handler }; // in Hono: app.all("/mcp", (context) => handler(context.req.raw))
 * ```
 */
export const withWebSocket: WithWebSocket = /* @__PURE__ */ createWithWebSocket(upgradeWorkers);

function createIsolateConnect(): Connect {
  return async (target, given = {}) => {
    const limits = fillIn(workersLimits, given.limits);
    const options = webFilled({ fetch: namedFetch, openWebSocket, ...given, limits });
    return await connectTarget(target, options, IsolateClient);
  };
}
