/** Tenants of the deployed Worker: nothing of one is ever another's, and nothing is left of one that ends. */
import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { Seeded } from "../../runner/support/seeded.ts";
import { resultsOf, runUntil, serversOf, skip, startRun, startWorld } from "./world.ts";
import type { WorkerWorld } from "./world.ts";

const isFull = process.env["CAUSEWAY_TENANTS"] === "full";
const operations = isFull ? 100_000 : 300;
const tenants = ["red", "green", "blue"] as const;
const colours: readonly string[] = tenants;

let world: WorkerWorld;
before(async () => {
  if (skip) return;
  world = await startWorld({
    principals: Object.fromEntries(tenants.map((tenant) => [tenant, { principal: "ada", tenant }])),
    config: {
      rules: [{ effect: "allow" }],
      agents: { readOnly: ["data.fetch_*"] },
      quotas: { requestsPerMinute: 10_000_000, runs: 100_000, storedBytes: 1e12, bytesPerMinute: 1e12 },
      tenants: Object.fromEntries(tenants.map((tenant) => [tenant, { servers: serversOf(tenant) }])),
    },
  });
});
after(() => world?.[Symbol.asyncDispose]());

/** What one tenant asks for; each says the tenant's canary. */
const asked: readonly ((tenant: string, nth: number) => Promise<string>)[] = [
  async (as, nth) => {
    const body = { city: `canary-${as}-${nth}` };
    return await (await world.ask("/api/tools/data__fetch_data", { as, body })).text();
  },
  async (as) => await (await world.ask("/api/tools", { as })).text(),
  async (as) => await (await world.ask("/api/runs?limit=20", { as })).text(),
  async (as) => await (await world.ask("/api/servers", { as })).text(),
  async (as) => await (await world.ask("/api/resources/read", { as, body: { uri: "note://one" } })).text(),
  async (as, nth) => {
    const { id } = await startRun(world, `call data.fetch_data city=canary-${as}-${nth}`, { as });
    return await (await world.ask(`/api/runs/${id}/events`, { as })).text();
  },
];

describe("tenants of the Worker", { concurrency: false }, () => {
  test(`${operations} operations at once, with evictions: no canary crosses`, {
    skip,
    timeout: isFull ? 3_600_000 : 60_000,
  }, async () => {
    const seeded = new Seeded(7);
    let failed = 0;
    const one = async (nth: number): Promise<void> => {
      const tenant = seeded.pick(colours);
      const work = seeded.pick(asked);
      if (nth % 97 === 96) return await world.evict(tenant);
      // What an eviction interrupts fails: it must not give another's.
      const text = await work(tenant, nth).catch((error) => (failed++, String(error)));
      for (const other of colours) {
        if (other === tenant) continue;
        assert(!text.includes(`canary-${other}`) && !text.includes(`${other}.example`), `${tenant}: ${text}`);
      }
    };
    const width = 12;
    for (let from = 0; from < operations; from += width) {
      await Promise.all(Array.from({ length: Math.min(width, operations - from) }, (_, at) => one(from + at)));
    }
    assert(failed < operations / 20, `${failed} failed`);
    for (const { server, given } of world.ledger) {
      const tenant = server.split(".")[0];
      assert(typeof given.city !== "string" || given.city.startsWith(`canary-${tenant}-`), `${server}: ${given.city}`);
    }
    assert(world.ledger.length > operations / 10);
  });

  test("another's run is like one that never was, by its id and by its tenant", { skip }, async () => {
    const { id } = await startRun(world, "say red", { as: "red" });
    const never = id.slice(0, -4) + (id.endsWith("0000") ? "1111" : "0000");
    for (const path of [`/api/runs/${id}`, `/api/runs/${id}/events`]) {
      const [foreign, missing] = [
        await world.ask(path, { as: "green" }),
        await world.ask(path.replace(id, never), { as: "green" }),
      ];
      const text = (await foreign.text()).replaceAll(id, "ID").replace(/"requestId":"\w+"/, "");
      assertEquals([foreign.status, missing.status], [404, 404]);
      assertEquals(text, (await missing.text()).replaceAll(never, "ID").replace(/"requestId":"\w+"/, ""));
    }
    const headers = { "causeway-tenant": "red" };
    assertEquals((await world.ask(`/api/runs/${id}`, { as: "green", headers })).status, 404);
    assertEquals(await world.json("/api/tools", { as: "green", headers }), { tools: [] });
  });

  test("one that ends leaves nothing, and the others keep theirs", { skip }, async () => {
    const { id } = await startRun(world, "call data.send text=later", { as: "red" });
    const kept = await startRun(world, "call data.send text=later", { as: "green" });
    await runUntil(world, id, ["needs_input"], "red");
    await world.ask("/api/tools/data__big", { as: "red", body: {} }).then((response) => response.body?.cancel());
    const bucket = await resultsOf(world);
    const { objects: large } = await bucket.list({ prefix: "" });
    assert(large.length > 0);
    const before = await world.rows("red");
    assert(before.keys.includes("tenant") && before.tables.includes("agent_runs"), JSON.stringify(before));
    const ended = await world.ask("/api/tenant", { as: "red", method: "DELETE" });
    assertEquals([ended.status, await ended.text()], [204, ""]);
    const { keys, alarm, tables } = await world.rows("red");
    assertEquals([keys, alarm, tables.filter((name) => name.startsWith("agent_"))], [[], null, []]);
    assertEquals((await bucket.list({ prefix: "" })).objects.length, 0);
    assertEquals((await world.ask(`/api/runs/${id}`, { as: "red" })).status, 404);
    assertEquals((await runUntil(world, kept.id, ["needs_input"], "green")).state, "needs_input");
    // It can begin anew.
    assertEquals((await startRun(world, "say hello", { as: "red" })).id === id, false);
  });
});
