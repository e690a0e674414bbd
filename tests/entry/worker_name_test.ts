import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createOAuth } from "../../src/auth/mod.ts";
import { connect } from "../../src/entry/workers.ts";
import { createModernHandler, ToolServer } from "../../src/server/mod.ts";

const isWorker = /^Cloudflare/.test(globalThis.navigator?.userAgent);
const skip = !isWorker && "only Workers send no user-agent by themselves";

describe("what a Worker calls itself: its fetch sends no name, and many a firewall lets nobody in without one", () => {
  test(
    "to the server, also where somebody signs in for it, and not in the place of another name",
    { skip },
    async (context) => {
      const { fetch } = globalThis;
      context.after(() => void (globalThis.fetch = fetch));
      const handler = createModernHandler(new ToolServer({ name: "tools", version: "1.0.0" }), {
        allowedHosts: ["mcp.example.com"],
      });
      const named = new Map<string, string | null>();
      globalThis.fetch = async (input, init) => {
        const request = new Request(input, init);
        const { pathname } = new URL(request.url);
        if (!pathname.startsWith("/.well-known")) named.set(pathname, request.headers.get("user-agent"));
        return pathname === "/private" ? new Response(null, { status: 401 }) : await handler(request);
      };
      await (await connect("https://mcp.example.com/mcp")).close();
      await (await connect("https://mcp.example.com/own", { headers: { "User-Agent": "mine/1" } })).close();
      const auth = createOAuth({ redirectUri: "https://app.example.com/callback" });
      await connect("https://mcp.example.com/private", { auth }).then(() => {}, () => {});
      const name = navigator.userAgent;
      assertEquals(Object.fromEntries(named), {
        "/mcp": name,
        "/own": "mine/1",
        "/private": name,
      });
    },
  );
});
