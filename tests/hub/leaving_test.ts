/**
 * Servers that are removed, and hubs that are closed, at any moment: everything settles at once, and nothing is left.
 */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createHandler } from "../../src/server/mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { type Actor, countedClock, faultyActors, goodActors } from "./chaos/cast.ts";
import { asks } from "./faulty.ts";
import { createServer, inMemory, openHub, record, textOf } from "./support.ts";

const moments = [0, 1, 10, 400, 5_000, 19_000];

const configOf = (actors: readonly Actor[]) => Object.fromEntries(actors.map(({ name, config }) => [name, config]));

/** A clock, and that of a hub, whose timers are counted. */
function createClocks() {
  const time = new VirtualClock();
  const clock = countedClock(time);
  return {
    time,
    clock,
    /** What is open at the other side, and the timers of the hub, after the second that one of a session may take. */
    async leftOf(actors: readonly Actor[]): Promise<unknown[]> {
      await time.advance(1_000);
      return [actors.filter((actor) => actor.open()).map(({ name }) => name), clock.timers()];
    },
  };
}

describe("while servers of all kinds connect", () => {
  for (const at of moments) {
    test(`openHub is given up after ${at} ms`, async () => {
      const { time, clock, leftOf } = createClocks();
      const actors = [...goodActors(5, time), ...faultyActors(time)];
      const controller = new AbortController();
      const opening = openHub(configOf(actors), { clock, signal: controller.signal });
      const rejected = assertRejects(() => opening);
      await time.advance(at);
      const startedAt = clock.monotonic();
      const reason = new Error("not wanted any more");
      controller.abort(reason);
      assertEquals(await time.until(rejected), reason);
      assertEquals(clock.monotonic(), startedAt);
      assertEquals(await leftOf(actors), [[], 0]);
    });

    test(`all are removed after ${at} ms, with calls that wait for them`, async () => {
      const { time, clock, leftOf } = createClocks();
      const actors = [...goodActors(5, time), ...faultyActors(time)];
      const hub = await openHub({}, { clock });
      const added = actors.map(({ name, config }) => hub.add(name, config));
      const calls = actors.map(({ name }) => hub.callTool(`${name}.slow`, { milliseconds: 30_000 }));
      await time.advance(at);
      const startedAt = clock.monotonic();
      const removed = await time.until(Promise.all(actors.map(({ name }) => hub.remove(name))));
      assertEquals(removed.includes(false), false);
      await time.until(Promise.all(added));
      assertEquals((await time.until(Promise.all(calls))).filter(({ isError }) => !isError), []);
      assertEquals(clock.monotonic(), startedAt);
      assertEquals(await leftOf(actors), [[], 0]);
      assertEquals([hub.status(), hub.tools()], [[], []]);
      await hub.close();
    });
  }
});

test("a server that is added under the name of one that was removed is shown as it is, whatever the old one lists", async () => {
  const clock = new VirtualClock();
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const old = memoryFetch({ fetch: createHandler(createServer("old"), { allowedHosts: ["one.test"] }) });
  let lists = 0;
  const hub = await openHub({}, { clock });
  const first = hub.add("one", {
    url: "http://one.test/mcp",
    fetch: async (url, init) => {
      const answer = await old(url, init);
      if (asks(init, "tools/list")) await (lists++, held);
      return answer;
    },
  });
  await clock.settle();
  assertEquals(lists, 1);
  const removed = hub.remove("one");
  const server = createServer("new");
  server.tool("fresh", {}, () => "fresh");
  await clock.until(hub.add("one", inMemory(server).config));
  const events = record(hub);
  release();
  await clock.until(Promise.all([first, removed]));
  await clock.settle();
  assertEquals(hub.tools().map(({ name }) => name), ["echo", "fail", "fresh"]);
  assertEquals(hub.findTool("one.echo")?.tool.description, "Says it again, at new");
  assertEquals(events.filter(({ type }) => type === "catalog"), []);
  assertEquals(textOf(await clock.until(hub.callTool("one.echo", { text: "a" }))), "new: a");
  await clock.until(hub.close());
});

test("two that drain a hub are both told when the last call is over", async () => {
  const clock = new VirtualClock();
  const server = createServer("one");
  let release = () => {};
  server.tool("wait", {}, () => new Promise<string>((resolve) => release = () => resolve("done")));
  const hub = await clock.until(openHub({ one: inMemory(server).config }, { clock }));
  const call = hub.callTool("one.wait");
  await clock.settle();
  const drained = Promise.all([hub.drain(), hub.drain({ timeout: 60_000 })]);
  await clock.settle();
  release();
  await clock.until(drained);
  assertEquals([clock.monotonic(), textOf(await call), clock.waiting], [0, "done", 0]);
});

describe("a config that cannot be right", () => {
  const wrong: readonly unknown[] = [null, {}, "http://bad.test/mcp"];
  for (const bad of wrong) {
    test(`${JSON.stringify(bad)}: the other servers are not left behind`, async () => {
      const { time, clock, leftOf } = createClocks();
      const actors = goodActors(5, time);
      const opening = openHub({ ...configOf(actors), bad } as Parameters<typeof openHub>[0], { clock });
      await assertRejects(() => time.until(opening), TypeError);
      assertEquals(await leftOf(actors), [[], 0]);
    });
  }
});
