/** A server that refuses to tell of changes for a while, and nothing else: what changes is heard of later. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import type { Fetch } from "../../../mod.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { asks, urlOf } from "../faulty.ts";
import { openHub, textOf } from "../support.ts";

for (const era of ["modern", "legacy"] as const) {
  for (const status of [401, 403]) {
    test(`a ${era} server that answers ${status} to who listens, and to nobody else, is heard again once it does not`, async () => {
      const clock = new VirtualClock();
      const server = new McpServer({ name: "shop", version: "1.0.0" });
      server.tool("buy", {}, () => "sold");
      const inside = memoryFetch({ fetch: createHandler(server, { allowedHosts: "*", eras: [era] }) });
      let refused = 0;
      let refuses = true;
      const fetch: Fetch = (url, init) => {
        const listens = init.method === "GET" || asks(init, "subscriptions/listen");
        if (!refuses || !listens) return inside(url, init);
        refused++;
        return Promise.resolve(new Response("no", { status }));
      };
      const hub = await clock.until(openHub({ shop: { url: urlOf("shop"), fetch } }, { clock }));
      await clock.advance(300_000);
      assertEquals(textOf(await clock.until(hub.callTool("shop__buy"))), "sold");
      // Not more often than another that cannot be listened to.
      assertEquals([hub.status()[0]?.state, refused > 2, refused < 40], ["connected", true, true], `${refused} times`);
      refuses = false;
      server.tool("sell", {}, () => "bought");
      await clock.advance(300_000);
      assertEquals(hub.tools().map(({ name }) => name).sort(), ["buy", "sell"]);
      // From then on it is listened to.
      server.tool("look", {}, () => "seen");
      await clock.advance(10_000);
      assertEquals(hub.tools().length, 3);
      await clock.until(hub.close());
    });
  }
}

test("a server that tells of changes and has no way to hear of them is listed now and then", async () => {
  const clock = new VirtualClock();
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  server.tool("buy", {}, () => "sold");
  const inside = memoryFetch({ fetch: createHandler(server, { allowedHosts: "*", eras: ["modern"] }) });
  let asked = 0;
  const fetch: Fetch = async (url, init) => {
    if (!asks(init, "subscriptions/listen")) return await inside(url, init);
    asked++;
    const { id } = await new Response(init.body).json();
    return Response.json({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } }, { status: 404 });
  };
  const hub = await clock.until(openHub({ shop: { url: urlOf("shop"), fetch } }, { clock }));
  server.tool("sell", {}, () => "bought");
  await clock.advance(150_000);
  assertEquals(hub.tools().map(({ name }) => name).sort(), ["buy", "sell"]);
  // It is not worse for it.
  assertEquals(textOf(await clock.until(hub.callTool("shop__sell"))), "bought");
  await clock.advance(1_500_000);
  assertEquals([hub.status()[0]?.state, asked > 2, asked < 40], ["connected", true, true], `${asked} times`);
  await clock.until(hub.close());
});
