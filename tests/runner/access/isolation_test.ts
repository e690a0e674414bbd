/**
 * Operations of many tenants in between each other, each with a canary of its own: none is ever seen by another tenant. 2,000 of them;
 * 100,000 with `CAUSEWAY_TENANTS=full` in the environment:
 *
 *     CAUSEWAY_TENANTS=full bun tools/run.ts test --filter tests/runner/access/isolation --only bun
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import type { ApiKeyRecord } from "../../../src/runner/mod.ts";
import { isFull, Seeded } from "../support/seeded.ts";
import { createWorld } from "../support/world.ts";
import type { AskOptions, World } from "../support/world.ts";

/** Each round is a test of its own. */
const [rounds, count] = isFull("CAUSEWAY_TENANTS") ? [20, 5_000] : [1, 2_000];
const tenants = ["ant", "bee", "cat", "dog", "elk"].map((animal) => `canary-${animal}-1f0e`);
const principals: Readonly<Record<string, ApiKeyRecord>> = Object.fromEntries(
  tenants.map((tenant) => [tenant, { principal: "worker", tenant }]),
);
const runs = new Map<string, string>();
const said = (text: string) => ({ role: "user", content: text });

describe("tenants beside each other", () => {
  for (let round = 1; round <= rounds; round++) {
    it(`see nothing of each other in ${count} operations, with hubs that are closed and runners that begin anew (${round})`, () =>
      play(new Seeded(20_260_728 + round)));
  }
});

async function play(random: Seeded): Promise<void> {
  const stores = { servers: createMemoryStore(), records: createMemoryStore() };
  const logs: string[] = [];
  const begin = () =>
    createWorld({
      principals,
      stores,
      quotas: { requestsPerMinute: 1e9, bytesPerMinute: 1e12, runs: 1e9 },
      // Hubs come and go all the time.
      pool: { most: 3 },
      logger: (record) => void logs.push(JSON.stringify(record)),
    });
  let world = await begin();
  const statuses = new Map<number, number>();
  try {
    for (let done = 0; done < count;) {
      const batch = Array.from({ length: 3 }, () => operate(world, random));
      for (const { tenant, path, response } of await Promise.all(batch)) {
        const seen = `${JSON.stringify([...response.headers])} ${await response.text()}`;
        assertOnly(tenant, seen, path);
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        done++;
      }
      if (done % 501 === 0) {
        assertLedger(world);
        await world.runner.close();
        world = await begin();
        runs.clear();
      }
    }
    assertLedger(world);
  } finally {
    await world.runner.close();
  }
  assert((statuses.get(200) ?? 0) > count / 2, JSON.stringify([...statuses]));
  assertEquals(statuses.get(500), undefined);
  assertEquals(logs.filter((line) => line.includes("canary-")), []);
}

function assertOnly(tenant: string, seen: string, where: string): void {
  for (const other of tenants) {
    if (other !== tenant) assert(!seen.includes(other), `${other} in ${where} of ${tenant}: ${seen}`);
  }
}

/** What reached the servers of a tenant is its own, too. */
function assertLedger({ ledger }: World): void {
  for (const { tenant, given } of ledger) assertOnly(tenant, JSON.stringify(given), "the ledger");
}

/** One operation of some tenant, sometimes with what belongs to another. */
async function operate(
  world: World,
  random: Seeded,
): Promise<{ readonly tenant: string; readonly path: string; readonly response: Response }> {
  const tenant = random.pick(tenants);
  const [path, options] = operation(tenant, random);
  const response = await world.ask(path, { as: tenant, ...options });
  if (path === "/api/runs" && response.status === 202) runs.set(tenant, (await response.clone().json()).id);
  return { tenant, path, response };
}

function operation(tenant: string, random: Seeded): readonly [string, AskOptions] {
  // A run of anybody's: others are told that there is none.
  const run = runs.get(random.pick(tenants)) ?? "run-none";
  const choices: readonly (readonly [string, AskOptions])[] = [
    ["/api/tools", {}],
    ["/api/tools?query=echo", {}],
    ["/api/tools/alpha__echo", { body: { canary: tenant } }],
    ["/api/tools/alpha__send", { body: { canary: tenant }, headers: { accept: "text/event-stream" } }],
    ["/api/servers", {}],
    ["/api/resources", {}],
    ["/api/resources/read", { body: { uri: "note://alpha/echo" } }],
    ["/api/prompts/alpha__greet", { body: { arguments: { who: tenant } } }],
    ["/api/runs", {
      body: { agent: "helper", input: [said(tenant)] },
      headers: { "idempotency-key": "same-for-all" },
    }],
    ["/api/runs", { body: { agent: "helper", input: tenant } }],
    ["/api/runs?limit=3", {}],
    [`/api/runs/${run}`, {}],
    [`/api/runs/${run}/events?after=9`, {}],
    ["/v1/models", {}],
    ["/v1/chat/completions", { body: { model: "helper", messages: [said(tenant)] } }],
  ];
  return random.pick(choices);
}
