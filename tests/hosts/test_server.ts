/**
 * A program for Bun (or Deno) that serves every fake peer on one loopback port, for the tests of all runtimes. Its first line on the
 * standard output is its URL, `http://127.0.0.1:PORT`.
 *
 * | path | is |
 * |---|---|
 * | `/modern/mcp` | 2026-07-28 |
 * | `/legacy/mcp`, `/legacy/<revision>/mcp` | the handshake revisions |
 * | `/sse2024/sse` | HTTP+SSE |
 * | `/ws`, `/ws/modern`, `/ws/legacy` | WebSocket |
 * | `/hostile/<fault>/<modern or legacy>/mcp` | one fault |
 * | `/control/<one of these paths>` | GET: its ledger as JSON; POST `{ action, … }`: does something to it |
 * | `/health` | `ok` |
 *
 * The first part of a path may end in `@name`: then it is a server of its own, so that tests do not meet (`/modern@a/mcp`).
 * The query of the first request to a server holds its options (`/modern@b/mcp?reply=sse&pageSize=5`).
 *
 * @module
 */
import {
  type BunSocketHandlers,
  bunSocketHandlers,
  type BunUpgrader,
  upgradeBun,
  upgradeDeno,
} from "../servers/websocket.ts";
import { createMounts, type Mounts } from "./test_mounts.ts";

const hostname = "127.0.0.1";
const port = "Bun" in globalThis ? serveBun() : serveDeno();
console.log(`http://${hostname}:${port}`);

interface BunServer extends BunUpgrader {
  readonly port: number;
}

declare const Bun: {
  serve(options: {
    hostname: string;
    port: number;
    idleTimeout: number;
    websocket: BunSocketHandlers;
    fetch(request: Request, server: BunServer): Promise<Response | undefined>;
    error(error: Error): Response;
  }): BunServer;
};

function serveBun(): number {
  const server = Bun.serve({
    hostname,
    port: 0,
    idleTimeout: 0, // streams may be silent for long
    websocket: bunSocketHandlers,
    fetch: (request, upgrader) => mounts.fetch(request, (options) => upgradeBun(request, upgrader, options)),
    error: broken,
  });
  const mounts = mountsAt(server.port);
  return server.port;
}

function serveDeno(): number {
  const server = Deno.serve({ hostname, port: 0, onListen: () => {}, onError: broken }, (request) => {
    return mounts.fetch(request, (options) => upgradeDeno(request, options));
  });
  const mounts = mountsAt(server.addr.port);
  return server.addr.port;
}

/** The same port by another name is another origin. */
function mountsAt(own: number): Mounts {
  return createMounts({ otherOrigin: `http://localhost:${own}` });
}

function broken(error: unknown): Response {
  return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
}
