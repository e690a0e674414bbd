/** What one process does to a tenant's servers while it looks at what others have done to them. */
import { assertEquals } from "@std/assert";
import { it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { memoryFetch } from "../../servers/memory_fetch.ts";
import { deferred } from "../../servers/core/wire.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld } from "../support/world.ts";

it("a server that is added while what is kept is looked at stays", async () => {
  const server = new McpServer({ name: "site", version: "1.0.0" });
  server.tool("look", {}, () => "here");
  const fetch = memoryFetch({ fetch: createHandler(server, { allowedHosts: "*" }) });
  const resolve = () => Promise.resolve(["93.184.215.14"]);
  const store = createMemoryStore();
  const clock = new VirtualClock();
  await using world = await createWorld({ stores: { servers: store }, egress: { fetch, resolve }, clock });
  const add = async (url: string) => (await world.ask("/api/servers", { body: { name: "web", url } })).status;
  assertEquals(await add("https://tools.example.com/mcp"), 201);
  assertEquals((await world.ask("/api/servers/web", { method: "DELETE" })).status, 204);
  await clock.advance(5_000);
  const { get } = store;
  const held = deferred<void>();
  store.get = async (key) => {
    store.get = get;
    const text = await get(key);
    await held.promise;
    return text;
  };
  await world.ask("/api/tools");
  await clock.settle();
  assertEquals([store.get === get, await add("https://tools.example.com/mcp?new")], [true, 201]);
  held.resolve();
  await clock.settle();
  assertEquals((await world.ask("/api/tools/web__look", { body: {} })).status, 200);
});
