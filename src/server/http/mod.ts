/**
 * A server over HTTP, in both eras on one endpoint.
 *
 * @module
 */
import { createServing } from "../serving.ts";
import type { Servable, ServingOptions } from "../serving.ts";
import { createHandlerWith } from "./handler.ts";
import type { Handler } from "./handler.ts";
import type { HttpOptions } from "./options.ts";

export type { Handler } from "./handler.ts";
export type { Authenticate, HttpOptions, SessionOptions, SessionStore } from "./options.ts";

/** Options of {@linkcode createHandler}. */
export interface HandlerOptions extends HttpOptions, ServingOptions {}

/**
 * Makes an HTTP endpoint: stateless for modern clients, with sessions for legacy ones (specification: Streamable HTTP).
 *
 * Pages and names of other machines are refused unless `allowedOrigins` and `allowedHosts` name them. Legacy sessions live
 * in the memory of the handler, unless `sessions.store` keeps them: on Workers that is a Durable Object's, or `eras: ["modern"]`.
 *
 * @param server What is served.
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
export function createHandler(server: Servable, options: HandlerOptions = {}): Handler {
  return createHandlerWith(createServing(server.methods, options), options);
}
