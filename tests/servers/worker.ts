/**
 * The fake peers as a Worker: `/mcp` speaks 2026-07-28 over HTTP and both eras over WebSocket. Bundled with esbuild and run
 * by Miniflare in the demo.
 *
 * @module
 */
import { createModernServer } from "./modern.ts";
import { upgradeWorkerd } from "./websocket.ts";

const server = createModernServer({ name: "worker", keep: 100 });

const worker: { fetch(request: Request): Promise<Response> } = {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return new Response("ok");
    if (pathname !== "/mcp") return new Response("Not Found", { status: 404 });
    if (request.headers.has("upgrade")) return upgradeWorkerd(request, { era: "both", name: "worker" });
    return await server.fetch(request);
  },
};

export default worker;
