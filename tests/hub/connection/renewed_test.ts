/** A server that tells nobody of changes and is replaced by another release while nobody calls: the next call finds it out. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { urlOf } from "../faulty.ts";
import { openHub, textOf } from "../support.ts";

test("a server that has forgotten the session is listed again once it has greeted the hub anew", async () => {
  const clock = new VirtualClock();
  let release = 1;
  let lists = 0;
  const results: Record<string, () => object> = {
    "initialize": () => ({
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "shop", version: `${release}.0.0` },
    }),
    "tools/list": () => {
      lists++;
      return { tools: [{ name: `buy${release}`, inputSchema: { type: "object" } }] };
    },
    "tools/call": () => ({ content: [{ type: "text", text: `sold by ${release}` }] }),
  };
  const serve = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: request.method === "GET" ? 405 : 200 });
    const { id, method } = await request.json();
    const session = `release-${release}`;
    const isFirst = method === "initialize" || method === "server/discover";
    if (!isFirst && request.headers.get("mcp-session-id") !== session) return new Response(null, { status: 404 });
    if (id === undefined) return new Response(null, { status: 202 });
    const result = results[method]?.();
    const answer = result ? { result } : { error: { code: -32601, message: "Method not found" } };
    return Response.json({ jsonrpc: "2.0", id, ...answer }, { headers: { "mcp-session-id": session } });
  };
  const fetch = memoryFetch({ fetch: serve });
  const hub = await clock.until(openHub({ shop: { url: urlOf("shop"), fetch } }, { clock }));
  const call = async () => textOf(await clock.until(hub.callTool({ server: "shop", name: "buy1" })));
  const names = () => hub.tools().map(({ name }) => name);
  assertEquals([await call(), names()], ["sold by 1", ["buy1"]]);
  await clock.advance(60_000);
  assertEquals(lists, 1);

  release = 2;
  assertEquals(await call(), "sold by 2");
  await clock.advance(10_000);
  assertEquals([names(), lists], [["buy2"], 2]);
  await clock.until(hub.close());
});
