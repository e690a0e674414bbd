/**
 * A program for Bun that serves every fake peer on one loopback port, for the tests of all runtimes. Its first line on the
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
import { createMounts } from "./test_mounts.ts";
import { bunSocketHandlers, type BunSocketHandlers, type BunUpgrader } from "../servers/websocket.ts";

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

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0, // streams may be silent for long
  websocket: bunSocketHandlers,
  fetch: (request, upgrader) => mounts.fetch(request, upgrader),
  error: (error) => new Response(error.message, { status: 500 }),
});
// The same port by another name is another origin.
const mounts = createMounts({ otherOrigin: `http://localhost:${server.port}` });

console.log(`http://127.0.0.1:${server.port}`);
