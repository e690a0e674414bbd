/**
 * An MCP endpoint in a Hono application.
 *
 * @module
 */
import { Hono } from "hono/tiny";

/** Options of {@linkcode createMcpApp}. */
export interface McpAppOptions {
  /** Where the endpoint is. Default: `/mcp`. */
  path?: string | undefined;
  /** The `auth` of the endpoint: its own paths are served too (the metadata of `protectResource`). */
  auth?: { readonly paths?: readonly string[] | undefined } | undefined;
}

/** The part of a Hono application that hosts need; it is one. */
export interface McpApp {
  /** Answers one request. */
  fetch(request: Request): Response | Promise<Response>;
}

/**
 * Makes an application that serves one endpoint: all else is 404. In an application of your own it is one line:
 * `app.all("/mcp", (context) => handler(context.req.raw))`.
 *
 * @param handler The endpoint: of `createHandler`, or of `withWebSocket`.
 */
export function createMcpApp(
  handler: (request: Request) => Response | Promise<Response>,
  { path = "/mcp", auth }: McpAppOptions = {},
): McpApp {
  const app = new Hono();
  for (const served of [path, ...auth?.paths ?? []]) app.all(served, (context) => handler(context.req.raw));
  return app;
}
