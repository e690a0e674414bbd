/**
 * What comes in the one moment in which something else is not over yet.
 */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { ChannelTransport, ConnectError, createMemoryPair } from "../../mod.ts";
import type { Middleware } from "../../mod.ts";
import { systemRandom } from "../../src/ports.ts";
import type { Fetch } from "../../src/ports.ts";
import { createHandler, McpServer, serveChannel } from "../../src/server/mod.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { asks, faultyFetches, healthy, urlOf } from "./faulty.ts";
import { createServer, inMemory, openHub, record, stateOf, textOf } from "./support.ts";

/** So many turns of the microtask queue: what has settled needs fewer to be heard of everywhere. */
const mostTurns = 40;

async function wait(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await undefined;
}

describe("a server that does not come up", () => {
  test("is tried again also when somebody asks for that as soon as they hear of it", async () => {
    const clock = new VirtualClock();
    const hub = await openHub({}, { clock });
    const events = hub.events();
    const retried = (async () => {
      for await (const { type } of events) if (type === "error") return await hub.retry("one");
    })();
    const server = createServer("one");
    let isUp = false;
    const transport = () =>
      new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        if (isUp) void serveChannel(server, far);
        else void far.close();
        return near;
      });
    await clock.until(Promise.all([hub.add("one", { transport }), retried]));
    isUp = true;
    const startedAt = clock.monotonic();
    assertEquals(textOf(await clock.until(hub.callTool("one.echo", { text: "a" }))), "one: a");
    assert(clock.monotonic() - startedAt <= 8_000, `${clock.monotonic() - startedAt} ms`);
    await clock.until(hub.close());
    // The second that a deadline of a client may take.
    await clock.advance(1_000);
    assertEquals(clock.waiting, 0);
  });

  test("takes no place of those that connect, also when its client is never closed", async () => {
    const clock = new VirtualClock();
    const hub = await openHub({}, { clock, parallel: 1 });
    const transport = () => {
      const held = new ChannelTransport(() => createMemoryPair()[0]);
      held.close = () => new Promise(() => {});
      return held;
    };
    await clock.until(hub.add("bad", { transport, timeout: 1_000 }));
    await clock.advance(60_000);
    const startedAt = clock.monotonic();
    await clock.until(hub.add("good", inMemory(createServer("good")).config));
    assertEquals([stateOf(hub, "good"), clock.monotonic()], ["connected", startedAt]);
  });
});

for (const way of ["pipe", "HTTP"] as const) {
  for (const era of ["modern", "legacy"] as const) {
    // The longer one is longer than changes are waited for.
    for (const wait of [1_000, 10_000]) {
      test(`a tool that comes while the rest of its server is listed for ${wait} ms is there (${era}, ${way})`, async () => {
        const clock = new VirtualClock();
        const server = createServer("one");
        let isNew = true;
        const middleware: Middleware = (next) => async (request) => {
          const result = await next(request);
          if (request.method === "tools/list" && isNew) {
            isNew = false;
            clock.schedule(() => server.tool("late", {}, () => "late"), 100);
          }
          if (request.method === "prompts/list") {
            await new Promise<void>((resolve) => void clock.schedule(resolve, wait));
          }
          return result;
        };
        const handler = createHandler(server, { eras: [era], clock, allowedHosts: ["one.test"] });
        const fetch = memoryFetch({ fetch: handler });
        const config = way === "HTTP" ? { url: urlOf("one"), fetch } : inMemory(server, { eras: [era] }).config;
        const hub = await clock.until(openHub({ one: config }, { clock, middleware: [middleware] }));
        await clock.advance(wait + 10_000);
        assertEquals(hub.tools().map(({ name }) => name), ["echo", "fail", "late"]);
        await clock.until(hub.close());
        void handler.close();
      });
    }

    test(`a change that a server told of before it could not be listed hides no error and asks no more (${era}, ${way})`, async () => {
      const clock = new VirtualClock();
      const server = createServer("one");
      let lists = 0;
      const middleware: Middleware = (next) => async (request) => {
        const result = await next(request);
        if (request.method === "tools/list" && ++lists === 1) {
          server.tool("late", {}, () => "late");
          await new Promise<void>((resolve) => void clock.schedule(resolve, 100));
          throw new ConnectError("It is away");
        }
        return result;
      };
      const handler = createHandler(server, { eras: [era], clock, allowedHosts: ["one.test"] });
      const place = way === "HTTP"
        ? { url: urlOf("one"), fetch: memoryFetch({ fetch: handler }) }
        : inMemory(server, { eras: [era] }).config;
      const config = { ...place, retryDelay: 40_000 };
      const random = { ...systemRandom, fraction: () => 0.9 };
      const hub = await clock.until(openHub({ one: config }, { clock, random, middleware: [middleware] }));
      await clock.advance(20_000);
      assertEquals([hub.errors.get("one")?.message, lists], ["It is away", 1]);
      await clock.advance(60_000);
      assertEquals([stateOf(hub, "one"), lists], ["connected", 2]);
      await clock.until(hub.close());
      void handler.close();
    });
  }
}

for (const era of ["modern", "legacy"] as const) {
  test(`a server whose streams did not work for ten minutes, while all else did, is listened to again (${era})`, async () => {
    const clock = new VirtualClock();
    const server = createServer("one");
    const handler = createHandler(server, { eras: [era], clock, allowedHosts: ["one.test"] });
    const good = memoryFetch({ fetch: handler });
    const { broken } = faultyFetches(clock) as Record<"broken", Fetch>;
    let works = false;
    const fetch: Fetch = (url, init) => {
      const isStream = init.method === "GET" || asks(init, "subscriptions/listen");
      return (works || !isStream ? good : broken)(url, init);
    };
    const hub = await clock.until(openHub({ one: { url: urlOf("one"), fetch } }, { clock }));
    await clock.advance(600_000);
    const hasLate = () => hub.tools().some(({ name }) => name === "late");
    works = true;
    server.tool("late", {}, () => "late");
    assertEquals([stateOf(hub, "one"), hasLate()], ["connected", false]);
    await clock.advance(400_000);
    assert(hasLate());
    await clock.until(hub.close());
    void handler.close();
  });
}

for (const era of ["modern", "legacy"] as const) {
  test(`a server that ends its streams and goes on elsewhere is listened to again (${era})`, async () => {
    const clock = new VirtualClock();
    const serve = (name: string) => {
      const server = createServer("one");
      server.tool(name, {}, () => name);
      const handler = createHandler(server, { eras: [era], clock, allowedHosts: ["one.test"] });
      return { server, handler, fetch: memoryFetch({ fetch: handler }) };
    };
    const [before, after] = [serve("before"), serve("after")];
    let answer: Fetch = before.fetch;
    const fetch: Fetch = (url, init) => answer(url, init);
    const hub = await clock.until(openHub({ one: { url: urlOf("one"), fetch } }, { clock }));
    const names = () => hub.tools().map(({ name }) => name);
    await clock.advance(60_000);
    answer = after.fetch;
    void before.handler.close();
    await clock.advance(120_000);
    assertEquals(names(), ["after", "echo", "fail"]);
    // Meanwhile nobody is there, and what stands before it says so.
    answer = () => Promise.resolve(new Response("404 page not found", { status: 404 }));
    await after.handler.close();
    await clock.advance(600_000);
    const last = serve("back");
    answer = last.fetch;
    // Without a session nobody knows whether there is a stream: the next call opens both.
    if (era === "legacy") await clock.until(hub.callTool("one.back"));
    await clock.advance(300_000);
    assertEquals(names(), ["back", "echo", "fail"]);
    last.server.tool("late", {}, () => "late");
    await clock.advance(120_000);
    assertEquals([stateOf(hub, "one"), ...names()], ["connected", "back", "echo", "fail", "late"]);
    await clock.until(hub.close());
    void last.handler.close();
  });
}

test("a server that comes back with other tools is listed anew, however long its lists may be kept", async () => {
  const clock = new VirtualClock();
  const serve = (name: string): Fetch => {
    const server = new McpServer({ name: "one", version: "1.0.0" }, {
      cache: { ttlMs: 3_600_000, cacheScope: "private" },
    });
    server.tool(name, {}, () => name);
    return memoryFetch({ fetch: createHandler(server, { eras: ["modern"], clock, allowedHosts: ["one.test"] }) });
  };
  let answer = serve("before");
  const fetch: Fetch = (url, init) => answer(url, init);
  const hub = await clock.until(openHub({ one: { url: urlOf("one"), fetch } }, { clock }));
  await clock.advance(60_000);
  answer = faultyFetches(clock).dead as Fetch;
  await clock.until(hub.callTool("one.before", {}, { timeout: 1_000 }));
  answer = serve("after");
  await clock.advance(60_000);
  assertEquals([stateOf(hub, "one"), ...hub.tools().map(({ name }) => name)], ["connected", "after"]);
  await clock.until(hub.close());
});

test("what may be sent again is sent again also after the server was away for a while", async () => {
  const clock = new VirtualClock();
  const { dead, busy } = faultyFetches(clock);
  const good = healthy("one");
  let answer: Fetch | undefined = good;
  let sent = 0;
  const fetch: Fetch = (url, init) => (sent++, (answer ?? good)(url, init));
  const hub = await clock.until(openHub({ one: { url: urlOf("one"), maxRetries: 1, fetch } }, { clock }));
  answer = dead;
  assertEquals((await clock.until(hub.callTool("one.echo", { text: "a" }))).isError, true);
  await clock.advance(20_000);
  assertEquals(stateOf(hub, "one"), "failed");
  answer = good;
  assertEquals(textOf(await clock.until(hub.callTool("one.echo", { text: "a" }))), "one: a");
  await clock.advance(600_000);
  sent = 0;
  answer = (url, init) => {
    answer = good;
    return (busy ?? good)(url, init);
  };
  const { contents } = await clock.until(hub.readResource("note://one"));
  assertEquals([contents.length, sent], [1, 2]);
  await clock.until(hub.close());
});

describe("in each turn after something was heard of", () => {
  test("a server can be removed: it is not left behind", async () => {
    for (let turns = 0; turns < mostTurns; turns++) {
      const clock = new VirtualClock();
      const server = createServer("one");
      let open = 0;
      const transport = () =>
        new ChannelTransport(() => {
          const [near, far] = createMemoryPair();
          open++;
          void serveChannel(server, far, { clock }).closed.then(() => open--);
          return near;
        });
      const hub = await openHub({}, { clock });
      const events = hub.events();
      const removed = (async () => {
        for await (const { type } of events) if (type === "catalog") break;
        await wait(turns);
        await hub.remove("one");
      })();
      await clock.until(Promise.all([hub.add("one", { transport }), removed]));
      await clock.settle();
      assertEquals([open, clock.waiting], [0, 0], `after ${turns} turns`);
      await hub.close();
    }
  });

  test("a hub can be closed while its servers change: nothing is listed any more", async () => {
    for (let turns = 0; turns < mostTurns; turns++) {
      const clock = new VirtualClock();
      const server = createServer("one");
      const hub = await clock.until(openHub({ one: inMemory(server).config }, { clock }));
      await clock.settle();
      server.tool("fresh", {}, () => "fresh");
      await wait(turns);
      await clock.until(hub.close());
      await clock.settle();
      assertEquals(clock.waiting, 0, `after ${turns} turns`);
    }
  });
});

describe("a server that is removed", () => {
  test("is told of before another one of its name is added", async () => {
    const clock = new VirtualClock();
    const hub = await clock.until(openHub({ one: inMemory(createServer("old")).config }, { clock }));
    const seen = record(hub);
    const removed = hub.remove("one");
    const added = hub.add("one", inMemory(createServer("new")).config);
    await clock.until(Promise.all([removed, added]));
    await clock.settle();
    assertEquals(seen.map((event) => event.type === "state" ? event.to : event.type), [
      "disconnected",
      "removed",
      "added",
      "connecting",
      "catalog",
      "connected",
    ]);
    await clock.until(hub.close());
  });

  test("has come to its end, and is told of, when the hub is closed meanwhile", async () => {
    const clock = new VirtualClock();
    let isOver = false;
    const transport = () => {
      const { config } = inMemory(createServer("one"));
      const made = (config.transport as () => ChannelTransport)();
      const close = made.close.bind(made);
      made.close = async () => {
        await new Promise<void>((resolve) => void clock.schedule(resolve, 500));
        await close();
        isOver = true;
      };
      return made;
    };
    const hub = await clock.until(openHub({ one: { transport } }, { clock }));
    const seen = record(hub);
    const removed = hub.remove("one");
    await clock.until(hub.close());
    assertEquals([isOver, seen.at(-1)], [true, { type: "removed", server: "one" }]);
    assertEquals(await removed, true);
  });
});
