/** What was removed here is nobody's any more: one of its name that comes later stays when a hub looks at what is kept. */
import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import type { Fetch } from "../../../src/ports.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../../src/runner/mod.ts";
import { createServer, inMemory, openHub } from "../../hub/support.ts";
import { deferred } from "../../servers/core/wire.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createAsk } from "../support/asking.ts";
import { createWorld } from "../support/world.ts";

const url = "https://tools.example.com/mcp";
const resolve = () => Promise.resolve(["93.184.215.14"]);

function createSite(): Fetch {
  const server = new McpServer({ name: "site", version: "1.0.0" });
  server.tool("look", {}, () => "here");
  const handler = createHandler(server, { allowedHosts: "*" });
  return async (address, init) => await handler(new Request(address, init));
}

describe("a hub that looks at what is kept, after a server was removed", () => {
  it("leaves one of its name alone that is being added", async () => {
    const site = createSite();
    const { promise: held, resolve: go } = deferred<void>();
    const { promise: asked, resolve: tell } = deferred<void>();
    let isSlow = false;
    const fetch: Fetch = async (...request) => {
      if (isSlow) {
        tell();
        await held;
      }
      return await site(...request);
    };
    const clock = new VirtualClock();
    await using world = await createWorld({ egress: { fetch, resolve }, clock });
    const add = () => world.ask("/api/servers", { body: { name: "web", url } });
    assertEquals((await add()).status, 201);
    assertEquals((await world.ask("/api/servers/web", { method: "DELETE" })).status, 204);
    isSlow = true;
    const adding = add();
    await asked;
    await clock.advance(5_000);
    await world.ask("/api/servers");
    await clock.settle();
    go();
    assertEquals((await adding).status, 201);
    assertEquals((await world.ask("/api/tools/web__look", { body: {} })).status, 200);
  });

  it("leaves one of its name alone that is another tenant's, or the operator's", async () => {
    const clock = new VirtualClock();
    const keys = await Promise.all(["acme", "other"].map(async (tenant) => ({ tenant, ...await createApiKey() })));
    await using hub = await openHub({});
    await using runner = createRunner({
      hub,
      addToHub: true,
      egress: { fetch: createSite(), resolve },
      access: {
        keys: createKeyList(keys.map(({ hash, tenant }) => ({ hash, principal: "ada", tenant }))),
        policy: createPolicy([{ effect: "allow" }]),
      },
      clock,
    });
    const ask = createAsk(keys, clock);
    const names = () => hub.status().map(({ name }) => name);
    const web = JSON.stringify({ name: "web", url });
    assertEquals(await ask(runner, "/api/servers", { method: "POST", body: web }), 201);
    assertEquals(await ask(runner, "/api/servers/web", { method: "DELETE" }), 204);
    assertEquals(await ask(runner, "/api/servers", { who: 1, method: "POST", body: web }), 201);
    await clock.advance(5_000);
    assertEquals([await ask(runner, "/api/tools"), names()], [200, ["web"]]);
    await runner.forget("other");
    await hub.add("web", inMemory(createServer("web")).config);
    await clock.advance(5_000);
    for (const who of [1, 0]) assertEquals([await ask(runner, "/api/tools", { who }), names()], [200, ["web"]]);
  });

  it("leaves one alone that was added while what is kept was read", async () => {
    const store = createMemoryStore();
    const clock = new VirtualClock();
    await using world = await createWorld({
      stores: { servers: store },
      egress: { fetch: createSite(), resolve },
      clock,
    });
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
});
