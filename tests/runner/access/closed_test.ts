import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "node:test";
import { connect, InvalidParamsError } from "../../../mod.ts";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import type { Store } from "../../../src/ports.ts";
import { createApiKey, createKeyStore, createPolicy } from "../../../src/runner/mod.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import type { AuditRow, Policy } from "../../../src/runner/mod.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { AskOptions, World } from "../support/world.ts";

/** What asks for something that is kept somewhere, and what it does when all is well. */
const operations: readonly (readonly [string, AskOptions, number])[] = [
  ["/api/tools", {}, 200],
  ["/api/tools/alpha__echo", { body: {} }, 200],
  ["/api/tools/alpha__send", { body: {} }, 428],
  ["/api/resources/read", { body: { uri: "note://alpha/echo" } }, 200],
  ["/api/prompts/alpha__greet", { body: {} }, 200],
  ["/api/servers", {}, 200],
  ["/api/runs", { body: { agent: "helper", input: "hello" }, headers: { "idempotency-key": "one" } }, 202],
  ["/api/runs", {}, 200],
  ["/api/approvals", {}, 200],
  ["/v1/chat/completions", { body: { model: "helper", messages: [{ role: "user", content: "hello" }] } }, 200],
];

/** Counts every operation of every store, and lets one of them fail. */
class Faults {
  count = 0;
  failing: number = Infinity;

  check(): void {
    if (++this.count === this.failing) throw new Error("the disk is on fire");
  }

  store(inside: Required<Store>): Required<Store> {
    return {
      get: async (key) => (this.check(), await inside.get(key)),
      set: async (key, value) => (this.check(), await inside.set(key, value)),
      delete: async (key) => (this.check(), await inside.delete(key)),
      compareAndSet: async (key, expected, value) => (this.check(), await inside.compareAndSet(key, expected, value)),
    };
  }

  policy(inside: Policy): Policy {
    return { open: (principal, tenant) => (this.check(), inside.open(principal, tenant)) };
  }
}

async function createFaulty(faults: Faults): Promise<{ world: World; key: string }> {
  const keys = createKeyStore(faults.store(createMemoryStore()));
  const { key, hash } = await createApiKey();
  await keys.add(hash, { principal: "ada", tenant: "acme" });
  const rules = [{ effect: "allow" as const }, { tools: ["send"], actions: ["call" as const], effect: "ask" as const }];
  const world = await createWorld({
    policy: faults.policy(createPolicy(rules)),
    access: { keys, audit: { write: () => faults.check() } },
    stores: { servers: faults.store(createMemoryStore()), records: faults.store(createMemoryStore()) },
    logger: () => {},
  });
  return { world, key };
}

describe("what cannot be found out is not allowed", () => {
  for (const [path, options, status] of operations) {
    it(`${options.body === undefined ? "GET" : "POST"} ${path}: each storage operation that fails is 503, and nothing is done`, async () => {
      let tried = 0;
      for (let failing = 1; failing < 100; failing++) {
        const faults = new Faults();
        const { world, key } = await createFaulty(faults);
        await using _ = world;
        const headers = { authorization: `Bearer ${key}`, ...options.headers };
        faults.count = 0;
        faults.failing = failing;
        const response = await world.ask(path, { ...options, as: undefined, headers });
        if (faults.count < failing) {
          assertEquals(response.status, status);
          break;
        }
        tried++;
        const problem = await problemOf(response);
        assertEquals([problem.status, problem.code], [503, "unavailable"], `operation ${failing}: ${problem.detail}`);
        assert(Number(response.headers.get("retry-after")) > 0);
        assert(!JSON.stringify(problem).includes("on fire"));
        assertEquals(world.ledger, [], `operation ${failing}`);
        assertEquals(world.runs("acme").started.length, 0, `operation ${failing}`);
        // And when it is back, all is well.
        faults.failing = Infinity;
        const again = await world.ask(path, { ...options, as: undefined, headers });
        assertEquals(again.status, status, `after operation ${failing}`);
      }
      assert(tried >= 2, `${tried} operations`);
    });
  }

  it("no run is cancelled or answered, and no call approved, that cannot be written down", async () => {
    let isFull = false;
    const rows: AuditRow[] = [];
    const write = (row: AuditRow) => {
      if (isFull) throw new Error("the log is full");
      rows.push(row);
    };
    const policy = [{ effect: "allow" as const }, {
      tools: ["send"],
      actions: ["call" as const],
      effect: "ask" as const,
    }];
    await using world = await createWorld({ policy, access: { audit: { write } }, logger: () => {} });
    const begin = async (input: string) =>
      (await (await world.ask("/api/runs", { body: { agent: "helper", input } })).json()).id as string;
    const [hanging, asking] = [await begin("hang"), await begin("ask")];
    const proposed = await problemOf(await world.ask("/api/tools/alpha__send", { body: {} }));
    const { id: approval } = proposed.approval as { id: string };
    const answer = { question: "q-1", answer: { action: "accept" } };
    const acts: readonly (readonly [string, AskOptions, action: string, tool: string])[] = [
      [`/api/runs/${hanging}`, { method: "DELETE" }, "run", "helper"],
      [`/api/runs/${asking}/input`, { body: answer }, "answer", "send"],
      [`/api/approvals/${approval}`, { body: { action: "accept" } }, "answer", "send"],
    ];
    for (const [path, options, action, tool] of acts) {
      isFull = true;
      const before = await Promise.all([hanging, asking].map((id) => world.runs("acme").get(id)));
      assertEquals((await world.ask(path, options)).status, 503, path);
      assertEquals(await Promise.all([hanging, asking].map((id) => world.runs("acme").get(id))), before);
      isFull = false;
      rows.length = 0;
      // Nothing was done: it still can be.
      assertEquals((await world.ask(path, options)).status, 200, path);
      assertEquals(rows.map((row) => [row.principal, row.action, row.tool, row.outcome]), [[
        "ada",
        action,
        tool,
        "allow",
      ]]);
    }
    assertEquals((await world.runs("acme").get(hanging))?.state, "cancelled");
  });

  it("a store that never answers is 503 for who asks, and keeps no runner from closing", async () => {
    const clock = new VirtualClock();
    const [servers, records] = [new TestStore(), new TestStore()];
    const policy = [{ effect: "allow" as const }, {
      tools: ["send"],
      actions: ["call" as const],
      effect: "ask" as const,
    }];
    const world = await createWorld({ clock, policy, stores: { servers, records }, logger: () => {} });
    const ask = async (path: string, options: AskOptions = {}): Promise<number> => {
      const response = await clock.until(world.ask(path, options));
      await response.body?.cancel();
      return response.status;
    };
    servers.mood = "hangs";
    assertEquals(await ask("/api/tools"), 503);
    servers.mood = "well";
    assertEquals(await ask("/api/tools"), 200);
    records.mood = "hangs";
    assertEquals([await ask("/api/tools/alpha__send", { body: {} }), await ask("/api/approvals")], [503, 503]);
    records.mood = "well";
    assertEquals(await ask("/api/tools/alpha__send", { body: {} }), 428);
    // While a hub is being opened.
    servers.mood = "hangs";
    await using other = await createWorld({ clock, stores: { servers }, logger: () => {} });
    const opening = other.ask("/api/tools");
    await clock.settle();
    await clock.until(Promise.all([other.runner.close(), world.runner.close()]));
    assertEquals((await clock.until(opening)).status, 503);
  });

  it("runs that cannot be kept are 503", async () => {
    await using world = await createWorld({ logger: () => {} });
    world.runs("acme").broken = new Error("the disk is on fire");
    const start = { body: { agent: "helper", input: "hello" } };
    for (const [path, options] of [["/api/runs", start], ["/api/runs", {}], ["/api/runs/run-1", {}]] as const) {
      const problem = await problemOf(await world.ask(path, options));
      assertEquals([problem.status, problem.detail], [503, "What keeps runs cannot be reached: nothing was done"]);
    }
  });

  it("holds however the policy fails: at once, later, or by a promise of a library's own", async () => {
    const error = new Error("the disk is on fire");
    const foreign = { then: (_: unknown, fail: (error: unknown) => void) => fail(error) };
    const ways: readonly (() => never)[] = [
      () => {
        throw error;
      },
      () => Promise.reject(error) as never,
      () => foreign as never,
    ];
    for (const open of ways) {
      await using world = await createWorld({ policy: { open }, logger: () => {} });
      for (const [path, options] of operations) {
        const response = await world.ask(path, options);
        await response.body?.cancel();
        assertEquals(response.status, 503, path);
      }
      assertEquals(world.ledger, []);
    }
  });
});

describe("a resource that a policy hides, at /mcp", () => {
  for (const servers of [["alpha"], ["alpha", "beta"]]) {
    for (const era of ["modern", "legacy"] as const) {
      it(`is one that is not there: ${era}, servers: ${servers.length}`, async () => {
        const policy = [{ actions: ["see" as const, "call" as const], effect: "allow" as const }];
        await using world = await createWorld({
          principals: { bob: { principal: "bob", tenant: "acme" } },
          policy,
          servers,
        });
        await using bob = await connect("http://localhost/mcp", {
          fetch: (url, init) => world.runner.fetch(new Request(url, init)),
          headers: { authorization: `Bearer ${world.key("bob")}` },
          ...(era === "legacy" && { verdict: { era } }),
        });
        for (const uri of ["note://alpha/echo", "note://nowhere"]) {
          const { message } = await assertRejects(() => bob.readResource(uri), InvalidParamsError);
          assertEquals(message.replace(uri, "").includes("alpha"), false, message);
        }
      });
    }
  }
});
