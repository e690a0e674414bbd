/**
 * The demo's server as a Worker: `/mcp` speaks 2026-07-28 over HTTP and over WebSocket.
 *
 * @module
 */
import { withWebSocket } from "../../src/entry/workers.ts";
import { createHandler, createSocketEndpoint } from "../../src/server/mod.ts";
import { createDemoServer } from "./server.ts";

const handler = withWebSocket(
  createHandler(createDemoServer("worker"), { eras: ["modern"] }),
  createSocketEndpoint(createDemoServer("worker"), { eras: ["modern"] }),
);

const worker: { fetch(request: Request): Response | Promise<Response> } = {
  fetch: (request) =>
    new URL(request.url).pathname === "/mcp" ? handler(request) : new Response("Not Found", { status: 404 }),
};
export default worker;
