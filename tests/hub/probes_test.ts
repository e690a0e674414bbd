/**
 * What a server is sent that has failed, is back, or was never wanted, and what its callers hear.
 */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Fetch } from "../../src/ports.ts";
import { systemRandom } from "../../src/ports.ts";
import { McpServer } from "../../src/server/mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { asks, counted, healthy, urlOf } from "./faulty.ts";
import { createServer, inMemory, openHub, stateOf, textOf } from "./support.ts";

/** A hub with one server, whose calls wait until they are let go, well or not. */
async function setUp() {
  const clock = new VirtualClock();
  let calls = 0;
  let mood: "well" | "failing" | "held" = "failing";
  let letGo: (() => void)[] = [];
  const fetch: Fetch = async (url, init) => {
    if (!asks(init, "tools/call")) return await healthy("one")(url, init);
    calls++;
    if (mood === "held") await new Promise<void>((resolve) => letGo.push(resolve));
    return mood === "failing" ? new Response("", { status: 500 }) : await healthy("one")(url, init);
  };
  const hub = await clock.until(openHub({ one: counted("one", clock, fetch).config }, { clock }));
  return {
    clock,
    hub,
    call: () => hub.callTool("one__echo", { text: "a" }),
    sent: () => calls,
    feel: (other: typeof mood) => void (mood = other),
    release: () => {
      for (const go of letGo) go();
      letGo = [];
    },
    opened: () => hub.status()[0]?.isOpen,
  };
}

describe("a server that fails", () => {
  test("has failed once when many calls fail that were on their way at the same time", async () => {
    const { clock, hub, call, opened } = await setUp();
    const all = await clock.until(Promise.all(Array.from({ length: 20 }, call)));
    assertEquals(all.filter(({ isError }) => !isError), []);
    assertEquals([stateOf(hub, "one"), opened()], ["connected", false]);
    await clock.until(hub.close());
  });

  test("is sent one call of many after its pause, and the others once that one was answered", async () => {
    const { clock, hub, call, sent, feel, release, opened } = await setUp();
    for (let count = 0; count < 5; count++) await clock.until(call());
    assertEquals([opened(), sent()], [true, 5]);
    await clock.advance(36_000);
    const refused = await clock.until(Promise.all([call(), call(), call()]));
    assertEquals(refused.map(({ isError }) => isError), [true, true, true]);
    assertEquals([opened(), sent()], [true, 6], "one for all of them");
    await clock.advance(72_000);
    feel("held");
    const calls = [call(), call(), call()];
    await clock.settle();
    assertEquals([sent(), stateOf(hub, "one")], [7, "connecting"]);
    release();
    await clock.settle();
    assertEquals([sent(), stateOf(hub, "one")], [9, "connected"]);
    release();
    assertEquals((await clock.until(Promise.all(calls))).map(textOf), ["one: a", "one: a", "one: a"]);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("has failed still when the call is given up that was to show whether it is back; the next one shows it", async () => {
    const { clock, hub, call, sent, feel, release } = await setUp();
    for (let count = 0; count < 5; count++) await clock.until(call());
    await clock.advance(36_000);
    feel("held");
    const controller = new AbortController();
    const { signal } = controller;
    const first = assertRejects(() => hub.callTool("one__echo", { text: "a" }, { signal }), Error, "enough");
    const second = call();
    await clock.settle();
    assertEquals([sent(), stateOf(hub, "one")], [6, "connecting"]);
    controller.abort(new Error("enough"));
    await clock.until(first);
    await clock.settle();
    assertEquals([sent(), stateOf(hub, "one")], [7, "connecting"], "who waits is next");
    feel("failing");
    release();
    assertEquals((await clock.until(second)).isError, true);
    assertEquals(stateOf(hub, "one"), "failed");
    await clock.advance(72_000);
    feel("held");
    const last = new AbortController();
    const third = assertRejects(() => hub.callTool("one__echo", {}, { signal: last.signal }), Error, "enough");
    await clock.settle();
    last.abort(new Error("enough"));
    await clock.until(third);
    await clock.settle();
    assertEquals(stateOf(hub, "one"), "failed");
    feel("well");
    assertEquals(textOf(await clock.until(call())), "one: a");
    assertEquals(stateOf(hub, "one"), "connected");
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("is asked for nothing for five seconds where it has refused, and then by the next call", async () => {
    const clock = new VirtualClock();
    const one = counted("one", clock, () => Promise.resolve(new Response("no", { status: 403 })));
    const hub = await clock.until(
      openHub({ one: one.config }, { clock, random: { ...systemRandom, fraction: () => 0 } }),
    );
    assertEquals([stateOf(hub, "one"), one.requests.length > 0], ["failed", true]);
    const before = one.requests.length;
    await clock.advance(4_900);
    assertEquals((await clock.until(hub.callTool("one__echo"))).isError, true);
    assertEquals(one.requests.length, before);
    await clock.advance(200);
    await clock.until(hub.callTool("one__echo"));
    assert(one.requests.length > before);
    await clock.until(hub.close());
  });
});

test("a server that is connected is sent nothing when it is to be tried again", async () => {
  const clock = new VirtualClock();
  const one = counted("one", clock, healthy("one"));
  const hub = await clock.until(openHub({ one: one.config }, { clock, listen: false }));
  const { length } = one.requests;
  await clock.until(hub.retry("one"));
  assertEquals([one.requests.length, stateOf(hub, "one")], [length, "connected"]);
  await clock.until(hub.close());
});

test("a server of a hub that is closed is not tried again", async () => {
  const clock = new VirtualClock();
  const one = counted("one", clock, healthy("one"));
  const hub = await clock.until(openHub({ one: one.config }, { clock }));
  await clock.until(hub.close());
  const { length } = one.requests;
  await clock.until(hub.retry("one"));
  assertEquals([one.requests.length, stateOf(hub, "one"), clock.waiting], [length, "disconnected", 0]);
});

test("what connects a server to learn its names gives its place back", async () => {
  const { config } = inMemory(createServer("one"), { concurrency: 1 });
  await using hub = await openHub({ one: config }, { lazy: true });
  for (let count = 0; count < 2; count++) {
    assertEquals(textOf(await hub.callTool("one__echo", { text: "a" })), "one: a");
  }
  const [status] = hub.status();
  assertEquals([status?.active, status?.tools, status?.resources, status?.prompts], [0, 2, 1, 1]);
});

test("an error that is none of ours has no code, whatever it says of itself", async () => {
  const transport = () => {
    throw Object.assign(new Error("no such thing"), { code: "ENOENT" });
  };
  await using hub = await openHub({ one: { transport }, two: { url: urlOf("two"), disabled: true } });
  assertEquals(hub.status().map(({ lastError }) => lastError), [
    { name: "Error", code: undefined, message: "no such thing" },
    undefined,
  ]);
});

test("a server whose transport throws nothing at all has failed, and keeps no other one from being connected", async () => {
  for (const nothing of [undefined, null]) {
    const transport = () => {
      throw nothing;
    };
    await using hub = await openHub({ one: { transport }, two: inMemory(createServer("two")).config });
    assertEquals([stateOf(hub, "one"), stateOf(hub, "two")], ["failed", "connected"]);
    assertEquals(hub.status()[0]?.lastError?.message, String(nothing));
  }
});

test("errors are of servers that cannot be used: not of those that are back, nor of those that nobody wanted", async () => {
  const clock = new VirtualClock();
  let isUp = false;
  const fetch: Fetch = (url, init) =>
    isUp ? healthy("one")(url, init) : Promise.resolve(new Response("", { status: 500 }));
  const hub = await clock.until(openHub({
    one: { url: urlOf("one"), fetch },
    two: { url: urlOf("two"), disabled: true },
  }, { clock }));
  assertEquals([...hub.errors.keys()], ["one"]);
  isUp = true;
  await clock.until(hub.retry("one"));
  assertEquals([stateOf(hub, "one"), hub.errors.size, hub.status()[0]?.lastError !== undefined], [
    "connected",
    0,
    true,
  ]);
  await clock.until(hub.close());
});

test("a server whose catalog is stored is started by its first call, and listed then", async () => {
  const first = inMemory(createServer("one"));
  const catalog = await (async () => {
    await using hub = await openHub({ one: first.config });
    return JSON.parse(JSON.stringify(hub.catalog()));
  })();
  const server = createServer("one");
  server.tool("new", {}, () => "new");
  const second = inMemory(server);
  await using hub = await openHub({ one: second.config }, { catalog });
  assertEquals([second.starts, hub.tools().length], [0, 2]);
  assertEquals(textOf(await hub.callTool("one__echo", { text: "a" })), "one: a");
  assertEquals([second.starts, hub.tools().length], [1, 3]);
});

test("a call whose arguments cannot be sent is a result that names its server", async () => {
  await using hub = await openHub({ one: inMemory(createServer("one")).config });
  const result = await hub.callTool("one__echo", { text: 1n as unknown as string });
  assertEquals([result.isError, textOf(result).includes('"one"')], [true, true], textOf(result));
  assertEquals((result._meta?.["dev.causeway/error"] as { server?: string }).server, "one");
});

test("what a caller gives reaches the server with each verb: who calls it off is not kept waiting", async () => {
  const hangs = (): Promise<never> => new Promise(() => {});
  const server = new McpServer({ name: "one", version: "1.0.0" });
  server.resource("note://one", { name: "note" }, hangs);
  server.prompt("greet", { arguments: { who: { complete: hangs } } }, hangs);
  server.tool("wait", {}, hangs);
  await using hub = await openHub({ one: inMemory(server).config });
  const prompt = { type: "ref/prompt", name: "one.greet" } as const;
  const verbs: ((options: { signal: AbortSignal }) => Promise<unknown>)[] = [
    (options) => hub.readResource("note://one", options),
    (options) => hub.getPrompt("one.greet", {}, options),
    (options) => hub.complete(prompt, { name: "who", value: "" }, options),
    (options) => hub.callTool("one.wait", {}, options),
  ];
  for (const [at, verb] of verbs.entries()) {
    const controller = new AbortController();
    const reason = { at };
    const ended = verb({ signal: controller.signal }).catch((error) => error);
    while (hub.status()[0]?.active !== 1) await new Promise((resolve) => setTimeout(resolve, 0));
    controller.abort(reason);
    assertEquals(await ended, reason);
  }
});
