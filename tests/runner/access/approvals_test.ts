import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory } from "../../hub/support.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createWorld, problemOf } from "../support/world.ts";
import type { World } from "../support/world.ts";

const principals = {
  ada: { principal: "ada", tenant: "acme" },
  bob: { principal: "bob", tenant: "acme" },
  eve: { principal: "ada", tenant: "other" },
};
const policy = [
  { actions: ["see", "call"] as const, effect: "allow" as const },
  { tools: ["send"], actions: ["call"] as const, effect: "ask" as const },
  { principals: ["bob"], actions: ["answer"] as const, effect: "allow" as const },
];
const path = "/api/tools/alpha__send";

async function propose(world: World, body: object = { to: "you" }): Promise<string> {
  const response = await world.ask(path, { body });
  const { status, code, approval } = await problemOf(response);
  assertEquals([status, code], [428, "approval_required"]);
  return (approval as { id: string }).id;
}

const answer = (world: World, id: string, action: string, as = "bob") =>
  world.ask(`/api/approvals/${id}`, { as, body: { action } });

describe("calls that want an approval", () => {
  it("are made once somebody has said yes, and once alone", async () => {
    await using world = await createWorld({ principals, policy });
    const id = await propose(world);
    const { approvals } = await (await world.ask("/api/approvals", { as: "bob" })).json();
    assertEquals([approvals.length, approvals[0].arguments, approvals[0].principal], [1, { to: "you" }, "ada"]);
    const early = await world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    assertEquals(early.status, 403);
    assertEquals((await answer(world, id, "accept")).status, 200);
    assertEquals((await (await world.ask("/api/approvals", { as: "bob" })).json()).approvals, []);
    assertEquals((await answer(world, id, "accept")).status, 409);
    const call = () => world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    const statuses = (await Promise.all([call(), call(), call()])).map(({ status }) => status).sort();
    assertEquals(statuses, [200, 403, 403]);
    assertEquals(world.ledger.length, 1);
    assert(world.audit.some(({ outcome, tool }) => outcome === "approved" && tool === "send"));
  });

  it("are not used up by a call that could not be written down and was not made", async () => {
    let isFull = false;
    const write = () => {
      if (isFull) throw new Error("the log is full");
    };
    await using world = await createWorld({ principals, policy, access: { audit: { write } }, logger: () => {} });
    const id = await propose(world);
    await answer(world, id, "accept");
    const call = () => world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    isFull = true;
    assertEquals([(await call()).status, world.ledger], [503, []]);
    isFull = false;
    assertEquals((await Promise.all([call(), call()])).map(({ status }) => status).sort(), [200, 403]);
    assertEquals(world.ledger.length, 1);
  });

  it("are good for one call, also over a store that cannot compare", async () => {
    const store = new TestStore();
    await using world = await createWorld({ principals, policy, stores: { records: store } });
    const id = await propose(world);
    await propose(world);
    await answer(world, id, "accept");
    // A write takes longer than a read.
    let release = (): void => {};
    store.held = new Promise((resolve) => release = resolve);
    const enough = store.reads + 2;
    const headers = { "causeway-approval": id };
    const calls = Promise.all([1, 2].map(() => world.ask(path, { body: { to: "you" }, headers })));
    while (store.reads < enough) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    release();
    assertEquals((await calls).map(({ status }) => status).sort(), [200, 403]);
    assertEquals(world.ledger.length, 1);
  });

  it("are bound to principal, tenant, tool and arguments", async () => {
    await using world = await createWorld({ principals, policy });
    const id = await propose(world);
    await answer(world, id, "accept");
    const headers = { "causeway-approval": id };
    for (
      const [where, options] of [
        [path, { body: { to: "somebody else" } }],
        [path, { as: "bob", body: { to: "you" } }],
        [path, { as: "eve", body: { to: "you" } }],
      ] as const
    ) {
      const response = await world.ask(where, { ...options, headers });
      assertEquals([response.status, (await problemOf(response)).code], [403, "approval_refused"]);
    }
    assertEquals(world.ledger, []);
    assertEquals((await world.ask(path, { body: { to: "you" }, headers })).status, 200);
  });

  it("are bound to the tool as it was: another one of its name was not approved", async () => {
    await using world = await createWorld({ principals, policy });
    const id = await propose(world);
    await answer(world, id, "accept");
    const hub = await world.hub("acme");
    const calls: unknown[] = [];
    const swap = async (description: string) => {
      const server = new McpServer({ name: "alpha", version: "1.0.0" });
      server.tool("send", { description, input: { type: "object" } }, (given) => {
        calls.push(given);
        return "sent";
      });
      await hub.remove("alpha");
      await hub.add("alpha", inMemory(server).config);
    };
    const call = () => world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    await swap("Sends it to everybody");
    const changed = await call();
    assertEquals([changed.status, (await problemOf(changed)).code, calls], [403, "approval_refused", []]);
    await swap("send at alpha");
    assertEquals([(await call()).status, calls], [200, [{ to: "you" }]]);
  });

  it("are not made where the tool changes while its call waits for a place", async () => {
    await using world = await createWorld({ principals, policy });
    await propose(world);
    const hub = await world.hub("acme");
    const server = new McpServer({ name: "alpha", version: "1.0.0" });
    const calls: unknown[] = [];
    const offer = (description: string) =>
      server.tool("send", { description, input: { type: "object" } }, (given) => {
        calls.push(given);
        return "sent";
      });
    const withdraw = offer("Sends it");
    let letGo = (): void => {};
    server.tool("hold", {}, () => new Promise<string>((resolve) => letGo = () => resolve("held")));
    await hub.remove("alpha");
    await hub.add("alpha", inMemory(server, { concurrency: 1 }).config);
    const id = await propose(world);
    await answer(world, id, "accept");
    const holding = hub.callTool("alpha__hold", {});
    const call = world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
    while (!hub.status().find(({ name }) => name === "alpha")?.queued) await pause();
    withdraw();
    offer("Sends it to everybody");
    while (hub.findTool("alpha__send")?.tool.description === "Sends it") {
      await pause();
      await hub.retry("alpha");
    }
    letGo();
    await holding;
    const changed = await call;
    assertEquals([changed.status, (await problemOf(changed)).code, calls], [403, "approval_refused", []]);
  });

  it("are answered only by those who may", async () => {
    await using world = await createWorld({ principals, policy });
    const id = await propose(world);
    for (const as of ["ada", "eve"]) {
      assertEquals((await answer(world, id, "accept", as)).status, 404);
      assertEquals((await (await world.ask("/api/approvals", { as })).json()).approvals, []);
    }
    assertEquals((await answer(world, "0".repeat(32), "accept")).status, 404);
    assertEquals((await answer(world, id, "perhaps")).status, 400);
    assertEquals((await answer(world, id, "decline")).status, 200);
    assertEquals((await answer(world, id, "accept")).status, 404, "a no is the last word");
    const response = await world.ask(path, { body: { to: "you" }, headers: { "causeway-approval": id } });
    assertEquals(response.status, 403);
  });

  it("of one caller put out no other caller's", async () => {
    const more = { ...principals, mal: { principal: "mal", tenant: "acme" } };
    await using world = await createWorld({ principals: more, policy });
    const approved = await propose(world, { to: "you" });
    await answer(world, approved, "accept");
    const waiting = await propose(world, { to: "them" });
    for (let count = 0; count < 60; count++) await world.ask(path, { as: "mal", body: { count } });
    assertEquals((await answer(world, waiting, "accept")).status, 200);
    for (const [id, to] of [[approved, "you"], [waiting, "them"]] as const) {
      assertEquals((await world.ask(path, { body: { to }, headers: { "causeway-approval": id } })).status, 200);
    }
    const { approvals } = await (await world.ask("/api/approvals", { as: "bob" })).json();
    assertEquals(approvals.map(({ arguments: { count } }: { arguments: { count: number } }) => count).slice(-1), [59]);
  });

  it("wait for ten minutes, and fifty at a time", async () => {
    const clock = new VirtualClock();
    await using world = await createWorld({ principals, policy, clock });
    const first = await propose(world);
    await clock.advance(600_001);
    assertEquals((await answer(world, first, "accept")).status, 404);
    for (let count = 0; count < 60; count++) await propose(world, { count });
    const { approvals } = await (await world.ask("/api/approvals", { as: "bob" })).json();
    assertEquals(approvals.length, 50);
    const long = await world.ask(path, { body: { text: "x".repeat(65_537) } });
    assertEquals([long.status, (await problemOf(long)).code], [413, "too_large"]);
  });
});
