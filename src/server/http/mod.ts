/**
 * A server over HTTP, in both eras on one endpoint.
 *
 * @module
 */
import { createModern } from "../modern/mod.ts";
import type { CallerServers } from "../callers/seam.ts";
import { createServing, createServingOf } from "../serving.ts";
import type { EraMakers, Servable, ServingOptions } from "../serving.ts";
import { createHandlerWith } from "./handler.ts";
import type { Handler } from "./handler.ts";
import { LegacyBinding } from "./legacy_binding.ts";
import type { HttpOptions } from "./options.ts";

export type { Handler } from "./handler.ts";
export type { Authenticate, HttpOptions, SessionOptions, SessionStore } from "./options.ts";

/** Options of {@linkcode createHandler}. */
export interface HandlerOptions extends HttpOptions, ServingOptions {}

/**
 * Makes an HTTP endpoint: stateless for modern clients, with sessions for legacy ones (specification: Streamable HTTP).
 *
 * Pages and names of other machines are refused unless `allowedOrigins` and `allowedHosts` name them. Legacy sessions live
 * in the memory of the handler, unless `sessions.store` keeps them: on Workers that is a Durable Object's, or
 * {@linkcode createModernHandler} serves without any.
 *
 * @param server What is served; with `perCaller` each caller is served with a server of theirs.
 * @returns The endpoint: hand it to `Bun.serve`, `Deno.serve`, a Worker or Hono (`app.all("/mcp", (c) => handler(c.req.raw))`).
 * @throws {TypeError} When an option makes no sense.
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example A server that answers one request
 * ```ts
 * import { createHandler, McpServer } from "@causeway/mcp/server";
 *
 * const server = new McpServer({ name: "greeter", version: "1.0.0" });
 * server.tool("greet", {}, () => "hello");
 * const handler = createHandler(server);
 * const response = await handler(new Request("http://localhost/mcp", { method: "OPTIONS" }));
 * console.assert(response.status < 500);
 * ```
 */
export function createHandler(server: Servable | CallerServers, options: HandlerOptions = {}): Handler {
  return createHandlerWith(createServing(server, options), options, LegacyBinding);
}

/** Options of {@linkcode createModernHandler}. */
export type ModernHandlerOptions = Omit<HandlerOptions, "eras" | "askTimeout" | "sessions">;

/**
 * Makes an HTTP endpoint for modern clients alone, as {@linkcode createHandler} does with `eras: ["modern"]`: what the
 * legacy era needs (sessions, their streams, its handshake) is not in the bundle. Clients of 2024-11-05 to 2025-11-25 are
 * told which revision is spoken here. For Workers, where no request finds the memory of another one.
 *
 * @param server What is served; with `perCaller` each caller is served with a server of theirs.
 * @throws {TypeError} When an option makes no sense.
 * @throws {RangeError} When the secret is shorter than 16 bytes.
 *
 * @example A handshake is refused
 * ```ts
 * import { createModernHandler, ToolServer } from "@causeway/mcp/server";
 *
 * const handler = createModernHandler(new ToolServer({ name: "greeter", version: "1.0.0" }));
 * const headers = { "content-type": "application/json", host: "localhost" };
 * const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize" });
 * const { status } = await handler(new Request("http://localhost/mcp", { method: "POST", headers, body }));
 * console.assert(status === 400);
 * ```
 */
export function createModernHandler(server: Servable | CallerServers, options: ModernHandlerOptions = {}): Handler {
  const eras: EraMakers = { modern: createModern };
  return createHandlerWith(createServingOf(eras, server, options), options);
}
