/**
 * An MCP endpoint in a Hono application.
 *
 * @module
 */
import { HonoBase } from "hono/hono-base";
import type { Result, Router } from "hono/router";

/** Options of {@linkcode createMcpApp}. */
export interface McpAppOptions {
  /** Where the endpoint is: one path, no pattern. Default: `/mcp`. */
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
 * @throws {TypeError} When a path is a pattern (`/mcp/*`, `/:name/mcp`).
 */
export function createMcpApp(
  handler: (request: Request) => Response | Promise<Response>,
  { path = "/mcp", auth }: McpAppOptions = {},
): McpApp {
  const app = new HonoBase({ router: new PathRouter() });
  for (const served of [path, ...auth?.paths ?? []]) app.all(served, (context) => handler(context.req.raw));
  return app;
}

/** Routes of all methods by their paths alone. Hono's own make regular expressions, which an isolate pays for when it starts. */
class PathRouter<Served> implements Router<Served> {
  readonly name = "PathRouter";
  readonly #served: Map<string, Served> = new Map();

  add(_: string, path: string, served: Served): void {
    if (path.includes("*") || path.includes("/:")) {
      throw new TypeError(`Cannot serve the path "${path}": expected one without a pattern`);
    }
    this.#served.set(bare(path), served);
  }

  match(_: string, path: string): Result<Served> {
    const served = this.#served.get(bare(path));
    return [served ? [[served, {}]] : []];
  }
}

/** A slash in the end makes no other path. */
function bare(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}
