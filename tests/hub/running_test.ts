import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { ChannelTransport, connect, InvalidParamsError, McpError, OverloadedError } from "../../mod.ts";
import { createOpenHub } from "../../src/hub/open_hub.ts";
import type { LogRecord, Spawn } from "../../src/ports.ts";
import { createStdioChannel } from "../../src/transport/stdio.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { asks, counted, healthy, urlOf } from "./faulty.ts";
import { createServer, inMemory, openHub, record, stateOf, textOf } from "./support.ts";

/** A server with a tool that waits to be let go. */
function createWaiting(name: string): { server: ReturnType<typeof createServer>; running: number; release(): void } {
  const server = createServer(name);
  let releases: (() => void)[] = [];
  server.tool("wait", {}, () => new Promise<string>((resolve) => void releases.push(() => resolve("done"))));
  return {
    server,
    get running() {
      return releases.length;
    },
    release() {
      const all = releases;
      releases = [];
      for (const release of all) release();
    },
  };
}

describe("what changes at a server", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`is listed again, gathered, and not more often than each five seconds (${era})`, async () => {
      const clock = new VirtualClock();
      const server = createServer("one");
      const hub = await clock.until(openHub({ one: inMemory(server, { eras: [era] }).config }, { clock }));
      await clock.settle();
      const seen = record(hub);
      const changes = () => seen.filter(({ type }) => type === "catalog").length;
      for (const name of ["a", "b", "c"]) server.tool(name, {}, () => "");
      await clock.advance(4_900);
      assertEquals([hub.tools().length, changes()], [2, 0]);
      await clock.advance(400);
      assertEquals([hub.tools().length, changes()], [5, 1]);
      assertEquals(textOf(await clock.until(hub.callTool("one__a"))), "");
      for (let count = 0; count < 20; count++) {
        server.tool(`t${count}`, {}, () => "");
        await clock.advance(500);
      }
      await clock.advance(5_000);
      assertEquals(hub.tools().length, 25);
      assert(changes() <= 4, `${changes()} changes`);
      assertEquals(seen.find(({ type }) => type === "catalog"), { type: "catalog", server: "one", changed: ["tools"] });
      await clock.until(hub.close());
      assertEquals(clock.waiting, 0);
    });
  }
});

test("a resource that is watched tells of its changes, until its signal ends that", async () => {
  const clock = new VirtualClock();
  const server = createServer("one");
  const hub = await clock.until(openHub({ one: inMemory(server).config }, { clock }));
  const seen = record(hub);
  const controller = new AbortController();
  await clock.until(hub.watchResource("note://one", { signal: controller.signal }));
  await clock.settle();
  server.resourceUpdated("note://one");
  await clock.settle();
  assertEquals(seen.filter(({ type }) => type === "resource"), [
    { type: "resource", server: "one", uri: "note://one" },
  ]);
  controller.abort();
  await clock.settle();
  server.resourceUpdated("note://one");
  await clock.settle();
  assertEquals(seen.filter(({ type }) => type !== "catalog").map(({ type }) => type), ["resource"]);
  await assertRejects(() => hub.watchResource("note://nobody"), InvalidParamsError);
  await clock.until(hub.close());
  assertEquals(clock.waiting, 0);
});

describe("what a server asks for", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`is answered by the hub's handlers, which are told who asks (${era})`, async () => {
      const server = createServer("one");
      server.tool("ask", {}, async (_args, context) => {
        const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
        const { action } = await context.elicit({ message: "Who?", requestedSchema });
        return action;
      });
      const asked: string[] = [];
      const logged: LogRecord[] = [];
      await using hub = await openHub({ first: inMemory(server, { eras: [era] }).config }, {
        handlers: {
          elicitation: (_request, { server, signal }) => {
            asked.push(`${server} ${signal.aborted}`);
            return { action: "decline" };
          },
        },
        logger: (line) => logged.push(line),
      });
      assertEquals(textOf(await hub.callTool("first__ask")), "decline");
      assertEquals(asked, ["first false"]);
      assertEquals(logged.filter(({ fields }) => fields?.server !== "first"), []);
    });
  }
});

test("what is logged of a program has the name that its server has here: many are started by one program", async () => {
  const spawn: Spawn = (_command, events) => {
    queueMicrotask(() => {
      void events.output(new TextEncoder().encode("Hello\n"));
      events.outputEnd();
      events.exit({ code: 1, signal: null });
    });
    return Promise.resolve({ pid: 1, write() {}, closeInput() {}, kill() {}, isEnding: () => true });
  };
  const logged: LogRecord[] = [];
  const open = createOpenHub((target, options) =>
    connect(target, {
      ...options,
      bindings: {
        stdio: (command, ports) =>
          new ChannelTransport(() => createStdioChannel(command, { logger: ports.logger, spawn }), ports),
      },
    })
  );
  const config = { command: "npx", maxRetries: 0 };
  await using _hub = await open({ one: config, two: config }, { logger: (line) => logged.push(line) });
  const told = new Set(logged.map(({ fields }) => `${fields?.server}: ${fields?.line}`));
  assertEquals([...told].sort(), ["one: Hello", "two: Hello"]);
});

describe("calls", () => {
  test("no more than a server may get at a time, a hundred that wait, and no more", async () => {
    const clock = new VirtualClock();
    const waiting = createWaiting("one");
    const hub = await clock.until(openHub({ one: inMemory(waiting.server, { concurrency: 3 }).config }, { clock }));
    const calls = Array.from({ length: 103 }, () => hub.callTool("one__wait"));
    await clock.settle();
    const [status] = hub.status();
    assertEquals([waiting.running, status?.active, status?.queued], [3, 3, 100]);
    await assertRejects(() => hub.callTool("one__wait", {}, { throws: true }), OverloadedError);
    let done = false;
    const all = Promise.all(calls).finally(() => done = true);
    while (!done) {
      assert(waiting.running <= 3);
      waiting.release();
      await clock.settle();
    }
    assertEquals((await all).filter((result) => textOf(result) !== "done"), []);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("the time of a call that waited counts", async () => {
    const clock = new VirtualClock();
    const waiting = createWaiting("one");
    const hub = await clock.until(openHub({ one: inMemory(waiting.server, { concurrency: 1 }).config }, { clock }));
    const first = hub.callTool("one__wait");
    const second = hub.callTool("one__wait", {}, { timeout: 1_000 });
    const third = hub.callTool("one__wait", {}, { timeout: 500 });
    await clock.advance(600);
    const late = (await third)._meta?.["dev.causeway/error"];
    assertEquals(late, { server: "one", code: "timeout", delivery: "not-sent", retryable: false });
    waiting.release();
    assertEquals(textOf(await first), "done");
    await clock.advance(399);
    assertEquals(waiting.running, 1);
    await clock.advance(1);
    assertEquals((await second)._meta?.["dev.causeway/error"], {
      server: "one",
      code: "timeout",
      delivery: "unknown",
      retryable: true,
    });
    await clock.until(hub.close());
  });

  test("an abort rejects with the caller's own reason, under way and while it waits", async () => {
    const waiting = createWaiting("one");
    await using hub = await openHub({ one: inMemory(waiting.server, { concurrency: 1 }).config });
    const controller = new AbortController();
    const reason = { why: "a user's own" };
    const { signal } = controller;
    const calls = [1, 2].map(() => hub.callTool("one__wait", {}, { signal }).catch((error) => error));
    while (!waiting.running) await new Promise((resolve) => void setTimeout(resolve, 0));
    controller.abort(reason);
    assertEquals(await Promise.all(calls), [reason, reason]);
    assertEquals(await hub.callTool("one__wait", {}, { signal }).catch((error) => error), reason);
    assertEquals([hub.status()[0]?.active, hub.status()[0]?.queued], [0, 0]);
  });

  test("tools that are filtered away are neither listed nor called", async () => {
    const config = inMemory(createServer("one"), { tools: { allow: ["e*", "f*l"], deny: ["*il"] } }).config;
    await using hub = await openHub({ one: config, two: inMemory(createServer("two")).config }, {
      filter: ({ name }, server) => server === "one" || name === "fail",
    });
    assertEquals(hub.tools().map(({ qualifiedName }) => qualifiedName), ["one__echo", "two__fail"]);
    for (const name of ["one.fail", "two.echo", { server: "one", name: "fail" }]) {
      await assertRejects(() => hub.callTool(name, {}, { throws: true }), InvalidParamsError);
    }
  });

  test("a server that fails five times in a row is left alone, and one call decides when that is over", async () => {
    const clock = new VirtualClock();
    let isWell = true;
    let calls = 0;
    const one = counted("one", clock, (url, init) => {
      if (!asks(init, "tools/call")) return healthy("one")(url, init);
      calls++;
      return isWell ? healthy("one")(url, init) : Promise.resolve(new Response("", { status: 500 }));
    });
    const hub = await clock.until(openHub({ one: one.config }, { clock }));
    const call = () => clock.until(hub.callTool("one__echo", { text: "a" }));
    isWell = false;
    for (let count = 0; count < 5; count++) assertEquals((await call()).isError, true);
    assertEquals([stateOf(hub, "one"), hub.status()[0]?.isOpen, calls], ["failed", true, 5]);
    assertEquals([(await call()).isError, calls], [true, 5]);
    await clock.advance(36_000);
    isWell = true;
    assertEquals([textOf(await call()), stateOf(hub, "one"), calls], ["one: a", "connected", 6]);
    await clock.until(hub.close());
  });

  test("a server that restarts is asked whether it is back, and what waits is answered", async () => {
    const clock = new VirtualClock();
    let isUp = true;
    const refused = () => Promise.reject(Object.assign(new TypeError("no"), { code: "ECONNREFUSED" }));
    const one = counted("one", clock, (url, init) => isUp ? healthy("one")(url, init) : refused());
    const hub = await clock.until(openHub({ one: one.config }, { clock, listen: false }));
    isUp = false;
    const results = await clock.until(
      Promise.all(Array.from({ length: 50 }, () => hub.callTool("one__echo", { text: "a" }, { timeout: 100 }))),
    );
    assertEquals(results.filter(({ isError }) => !isError), []);
    assertEquals(stateOf(hub, "one"), "reconnecting");
    isUp = true;
    assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "a" }))), "one: a");
    assertEquals(stateOf(hub, "one"), "connected");
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });
});

describe("a server that was given up", () => {
  /** A server that is gone, and has been for a while. */
  async function setUp() {
    const clock = new VirtualClock();
    let isUp = true;
    const sent: string[] = [];
    const refused = () => Promise.reject(Object.assign(new TypeError("no"), { code: "ECONNREFUSED" }));
    const one = counted("one", clock, (url, init) => {
      sent.push(new Headers(init.headers).get("mcp-method") ?? "");
      return isUp ? healthy("one")(url, init) : refused();
    });
    const hub = await clock.until(openHub({ one: one.config }, { clock }));
    isUp = false;
    for (let count = 0; count < 10; count++) {
      await clock.until(hub.callTool("one__echo", { text: "a" }));
      await clock.advance(5_000);
    }
    assertEquals(stateOf(hub, "one"), "failed");
    await clock.advance(400_000);
    sent.length = 0;
    return { clock, hub, sent, comeBack: () => void (isUp = true) };
  }

  test("is asked by the next call itself, which is all that it is sent while it is gone", async () => {
    const { clock, hub, sent, comeBack } = await setUp();
    const events = record(hub);
    const gone = hub.callTool("one__echo", { text: "a" });
    await Promise.resolve();
    assertEquals(stateOf(hub, "one"), "connecting");
    assertEquals((await clock.until(gone)).isError, true);
    assertEquals(stateOf(hub, "one"), "failed");
    assertEquals(sent.filter((method) => method !== "tools/call"), []);
    assertEquals(events.flatMap((event) => event.type === "state" ? [event.to] : []), ["connecting", "failed"]);
    comeBack();
    await clock.advance(400_000);
    sent.length = 0;
    // The others wait for the first one.
    const texts = ["b", "c", "d"];
    const back = await clock.until(Promise.all(texts.map((text) => hub.callTool("one__echo", { text }))));
    assertEquals([back.map(textOf), stateOf(hub, "one")], [["one: b", "one: c", "one: d"], "connected"]);
    assertEquals([sent[0], sent.filter((method) => method === "tools/call").length], ["tools/call", 3]);
    assertEquals(sent.includes("server/discover"), false);
    // What it has may have changed meanwhile.
    await clock.advance(120_000);
    assert(["tools/list", "prompts/list", "subscriptions/listen"].every((method) => sent.includes(method)), `${sent}`);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("gives its client only once it has answered", async () => {
    const { clock, hub, sent, comeBack } = await setUp();
    const error = await assertRejects(() => clock.until(hub.client("one")), McpError);
    assertEquals([error.server, stateOf(hub, "one"), sent.length > 0], ["one", "failed", true]);
    comeBack();
    await clock.advance(400_000);
    const client = await clock.until(hub.client("one"));
    assertEquals(textOf(await clock.until(client.callTool("echo", { text: "e" }))), "one: e");
    assertEquals(stateOf(hub, "one"), "connected");
    await clock.until(hub.close());
  });

  test("a call that is given up says nothing of it: the next one is let through", async () => {
    const { clock, hub, comeBack } = await setUp();
    comeBack();
    const controller = new AbortController();
    const reason = new Error("not wanted any more");
    const given = hub.callTool("one__echo", { text: "a" }, { signal: controller.signal });
    controller.abort(reason);
    assertEquals(await assertRejects(() => clock.until(given)), reason);
    assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "b" }))), "one: b");
    assertEquals(stateOf(hub, "one"), "connected");
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });
});

describe("events", () => {
  test("reach all who listen, a thousand wait, and those that were dropped are counted", async () => {
    await using hub = await openHub();
    const [first, second] = [hub.events(), hub.events()];
    for (let count = 0; count < 505; count++) {
      await hub.add("one", { url: urlOf("one"), disabled: true });
      await hub.remove("one");
    }
    assertEquals([first.dropped, second.dropped], [10, 10]);
    assertEquals((await second.next()).value, { type: "added", server: "one" });
    await second.return();
    assertEquals((await second.next()).done, true);
    assertEquals((await first.next()).done, false);
  });

  test("end with the hub, with the signal, and when the loop is left", async () => {
    const hub = await openHub();
    const controller = new AbortController();
    const ended = [hub.events(), hub.events({ signal: controller.signal })].map(async (events) => {
      for await (const _ of events);
    });
    controller.abort();
    await ended[1];
    await hub.close();
    await ended[0];
    for await (const _ of hub.events()) throw new Error("a closed hub told something");
  });
});

describe("the end", () => {
  test("drain: what is under way ends well, and nothing new begins", async () => {
    const clock = new VirtualClock();
    const waiting = createWaiting("one");
    const hub = await clock.until(openHub({ one: inMemory(waiting.server, { concurrency: 1 }).config }, { clock }));
    const calls = [hub.callTool("one__wait"), hub.callTool("one__wait")];
    await clock.settle();
    const drained = hub.drain();
    const refused = await hub.callTool("one__echo", { text: "a" });
    assertEquals([refused.isError, textOf(refused).includes('"one"')], [true, true]);
    for (let count = 0; count < 2; count++) {
      waiting.release();
      await clock.settle();
    }
    assertEquals((await Promise.all(calls)).map(textOf), ["done", "done"]);
    await drained;
    assertEquals([stateOf(hub, "one"), clock.waiting], ["disconnected", 0]);
  });

  test("drain does not wait for ever", async () => {
    const clock = new VirtualClock();
    const waiting = createWaiting("one");
    const hub = await clock.until(openHub({ one: inMemory(waiting.server).config }, { clock }));
    const call = hub.callTool("one__wait");
    await clock.settle();
    await clock.until(hub.drain({ timeout: 5_000 }));
    assertEquals([clock.monotonic(), (await call).isError, clock.waiting], [5_000, true, 0]);
  });

  test("close: calls end at once, those that wait too, and again is harmless", async () => {
    const clock = new VirtualClock();
    const waiting = createWaiting("one");
    const hub = await clock.until(openHub({ one: inMemory(waiting.server, { concurrency: 1 }).config }, { clock }));
    const calls = [1, 2].map(() => hub.callTool("one__wait", {}, { throws: true }));
    const errors = Promise.all(calls.map((call) => call.catch((error) => [error.name, error.delivery, error.server])));
    await clock.settle();
    await hub.close();
    assertEquals(await errors, [
      ["OutcomeUnknownError", "unknown", "one"],
      ["ConnectionClosedError", "not-sent", "one"],
    ]);
    await hub.close();
    assertEquals(clock.waiting, 0);
    await assertRejects(() => hub.add("two", inMemory(createServer("two")).config), TypeError, "closed");
    assertEquals((await hub.callTool("one__echo", { text: "a" })).isError, true);
  });
});
