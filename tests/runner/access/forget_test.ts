import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { deferred } from "../../servers/core/wire.ts";
import { createWorld } from "../support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  eve: { principal: "eve", tenant: "other" },
};

/** A store that tells what is in it. */
function createOpenStore() {
  const store = createMemoryStore();
  const keys = new Map<string, true>();
  const note = (key: string, value: unknown) => value === undefined ? keys.delete(key) : keys.set(key, true);
  return {
    keys,
    store: {
      get: store.get,
      set: (key: string, value: string) => (note(key, value), store.set(key, value)),
      delete: (key: string) => (note(key, undefined), store.delete(key)),
      compareAndSet: async (key: string, expected: string | undefined, value: string | undefined) => {
        const isDone = await store.compareAndSet(key, expected, value);
        if (isDone) note(key, value);
        return isDone;
      },
    },
  };
}

describe("a tenant that ends", () => {
  it("leaves nothing, and others keep theirs", async () => {
    const server = new McpServer({ name: "site", version: "1.0.0" });
    server.tool("look", {}, () => "here");
    const handler = createHandler(server, { allowedHosts: "*" });
    const [servers, records] = [createOpenStore(), createOpenStore()];
    await using world = await createWorld({
      principals,
      stores: { servers: servers.store, records: records.store },
      egress: { fetch: (url, init) => Promise.resolve(handler(new Request(url, init))) },
      policy: [{ effect: "allow" }, { tools: ["send"], actions: ["call"], effect: "ask" }],
    });
    for (const as of ["ada", "eve"]) {
      const body = { agent: "helper", input: "hang" };
      for (const key of ["one", "two", "three"]) {
        assertEquals((await world.ask("/api/runs", { as, body, headers: { "idempotency-key": key } })).status, 202);
      }
      const added = { name: "web", url: "https://tools.example.com/mcp" };
      assertEquals((await world.ask("/api/servers", { as, body: added })).status, 201);
      assertEquals((await world.ask("/api/tools/alpha__send", { as, body: {} })).status, 428);
    }
    assertEquals([servers.keys.size, records.keys.size], [2, 4]);
    await world.runner.forget("acme");
    assertEquals([servers.keys.size, records.keys.size], [1, 2]);
    const states = async (tenant: string) => (await world.runs(tenant).list()).map(({ state }) => state);
    assertEquals(await states("acme"), ["cancelled", "cancelled", "cancelled"]);
    assertEquals(await states("other"), ["running", "running", "running"]);
    assertEquals((await (await world.ask("/api/servers")).json()).servers.length, 1);
    assertEquals((await (await world.ask("/api/servers", { as: "eve" })).json()).servers.length, 2);
    await world.runner.forget("acme");
    world.runs("acme").broken = new Error("the disk is on fire");
    await assertRejects(() => world.runner.forget("acme"), Error, "What keeps runs cannot be reached");
  });

  it("has no run that was being started meanwhile", async () => {
    await using world = await createWorld({ principals });
    const runs = world.runs("acme");
    const { promise: held, resolve: go } = deferred<void>();
    const { promise: begun, resolve: tell } = deferred<void>();
    const begin = runs.start.bind(runs);
    runs.start = async (task) => {
      tell();
      await held;
      return await begin(task);
    };
    const starting = world.ask("/api/runs", { body: { agent: "helper", input: "hang" } });
    await begun;
    const forgetting = world.runner.forget("acme");
    await new Promise((resolve) => setTimeout(resolve, 20));
    go();
    assertEquals((await starting).status, 202);
    await forgetting;
    assertEquals((await runs.list()).map(({ state }) => state), ["cancelled"]);
  });
});
