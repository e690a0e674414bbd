import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair, isSnapshot } from "../../../mod.ts";
import { createOpenHub } from "../../../src/hub/open_hub.ts";
import { systemRandom } from "../../../src/ports.ts";
import { serveChannel } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, inMemory, openHub, record, stateOf, textOf } from "../support.ts";

const random = { ...systemRandom, fraction: () => 0.5 };

for (const era of ["modern", "legacy"] as const) {
  describe(`a server on a pipe that dies (${era})`, () => {
    test("is started again by itself, with a pause, and what waits for it is answered", async () => {
      const clock = new VirtualClock();
      const one = inMemory(createServer("one"), { eras: [era] });
      const hub = await clock.until(openHub({ one: one.config }, { clock, random }));
      const seen = record(hub);
      one.kill();
      await clock.settle();
      assertEquals([stateOf(hub, "one"), one.starts], ["reconnecting", 1]);
      const call = hub.callTool("one__echo", { text: "a" });
      await clock.advance(499);
      assertEquals([stateOf(hub, "one"), one.starts, hub.status()[0]?.queued], ["reconnecting", 1, 1]);
      await clock.advance(1);
      assertEquals(textOf(await call), "one: a");
      assertEquals([stateOf(hub, "one"), one.starts], ["connected", 2]);
      assertEquals(seen.flatMap((event) => event.type === "state" ? [event.to] : []), ["reconnecting", "connected"]);
      await clock.until(hub.close());
      assertEquals(clock.waiting, 0);
    });

    test("again and again, with nobody who calls, is given up, and the next call tries once more", async () => {
      const clock = new VirtualClock();
      const one = inMemory(createServer("one"), { eras: [era] });
      const hub = await clock.until(openHub({ one: one.config }, { clock, random }));
      for (let second = 0; second < 600; second += 5) {
        if (stateOf(hub, "one") === "connected") one.kill();
        await clock.advance(5_000);
      }
      const { starts } = one;
      assertEquals(stateOf(hub, "one"), "failed");
      assert(starts >= 4 && starts <= 12, `${starts} starts`);
      assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "a" }))), "one: a");
      assertEquals([stateOf(hub, "one"), one.starts], ["connected", starts + 1]);
      await clock.until(hub.close());
    });

    test("with a call that it was sent: nobody knows whether that ran, and it is not sent again", async () => {
      const clock = new VirtualClock();
      const server = createServer("one");
      let ran = 0;
      server.tool("wait", {}, () => (ran++, new Promise<string>(() => {})));
      const one = inMemory(server, { eras: [era] });
      const hub = await clock.until(openHub({ one: one.config }, { clock, random }));
      const calls = Array.from({ length: 20 }, () => hub.callTool("one__wait"));
      await clock.settle();
      one.kill();
      for (const { isError, _meta } of await clock.until(Promise.all(calls))) {
        const error = _meta?.["dev.causeway/error"];
        assertEquals([isError, error], [
          true,
          { server: "one", code: "outcome_unknown", delivery: "unknown", retryable: false },
        ]);
      }
      assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "a" }))), "one: a");
      assertEquals([ran, one.starts], [20, 2]);
      await clock.until(hub.close());
    });
  });
}

test("a pipe of one's own is one, whatever else stands beside it", async () => {
  for (
    const beside of [{ url: "https://one.test/mcp" }, { url: "https://one.test/mcp", command: "nothing-of-this-name" }]
  ) {
    const clock = new VirtualClock();
    const one = inMemory(createServer("one"));
    const hub = await clock.until(openHub({ one: { ...one.config, ...beside } as never }, { clock, random }));
    one.kill();
    await clock.settle();
    assertEquals([stateOf(hub, "one"), one.starts], ["reconnecting", 1], JSON.stringify(beside));
    await clock.advance(500);
    assertEquals([stateOf(hub, "one"), one.starts], ["connected", 2], JSON.stringify(beside));
    await clock.until(hub.close());
  }
});

describe("a server that dies as soon as it is started", () => {
  test("is not started more often than the pauses allow, however many call", async () => {
    const clock = new VirtualClock();
    let starts = 0;
    const transport = () =>
      new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        starts++;
        void far.close();
        return near;
      });
    const good = inMemory(createServer("good"));
    const hub = await clock.until(openHub({ bad: { transport }, good: good.config }, { clock, random }));
    for (let second = 0; second < 600; second += 5) {
      const [bad, other] = await clock.until(Promise.all([
        hub.callTool("bad.echo", { text: "a" }, { timeout: 4_000 }),
        hub.callTool("good.echo", { text: "a" }),
      ]));
      assertEquals([bad.isError, textOf(other)], [true, "good: a"]);
      assert(textOf(bad).includes('"bad"'), textOf(bad));
      await clock.advance(5_000);
    }
    assert(starts > 5 && starts <= 40, `${starts} starts`);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });

  test("also when it answers first", async () => {
    const clock = new VirtualClock();
    let starts = 0;
    const transport = () =>
      new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        starts++;
        void serveChannel(createServer("bad"), far);
        clock.schedule(() => void far.close(), 100);
        return near;
      });
    const hub = await clock.until(openHub({ bad: { transport } }, { clock, random }));
    await clock.advance(600_000);
    assert(starts >= 4 && starts <= 12, `${starts} starts`);
    await clock.until(hub.close());
    assertEquals(clock.waiting, 0);
  });
});

for (const era of ["modern", "legacy"] as const) {
  describe(`a server on a pipe that says nothing any more (${era})`, () => {
    /** A server that can be stopped in its tracks: it takes what it is sent, and answers nothing. */
    function createStoppable() {
      const started: { isStopped: boolean; isClosed: boolean }[] = [];
      const transport = () =>
        new ChannelTransport(() => {
          const [near, far] = createMemoryPair();
          const program = { isStopped: false, isClosed: false };
          started.push(program);
          void serveChannel(createServer("one"), far, { eras: [era] });
          return {
            label: near.label,
            open: (receiver) => near.open(receiver),
            write: (messages) => program.isStopped ? undefined : near.write(messages),
            close: () => {
              program.isClosed = true;
              return near.close();
            },
          };
        });
      return { started, transport };
    }

    test("is started anew once it does not answer when it is asked whether it is there", async () => {
      const clock = new VirtualClock();
      const { started, transport } = createStoppable();
      const hub = await clock.until(openHub({ one: { transport } }, { clock, random }));
      started[0]!.isStopped = true;
      for (let call = 0; call < 5; call++) {
        const { _meta } = await clock.until(hub.callTool("one__echo", { text: "a" }, { timeout: 1_000 }));
        assertEquals((_meta?.["dev.causeway/error"] as { code?: string }).code, "timeout");
      }
      assertEquals([stateOf(hub, "one"), started.length], ["failed", 1]);
      let answered: string | undefined;
      for (let minute = 0; minute < 10 && answered !== "one: a"; minute++) {
        answered = textOf(await clock.until(hub.callTool("one__echo", { text: "a" })));
        await clock.advance(60_000);
      }
      assertEquals([answered, stateOf(hub, "one"), started.length], ["one: a", "connected", 2]);
      assertEquals(started.map(({ isClosed }) => isClosed), [true, false]);
      await clock.until(hub.close());
      assertEquals([clock.waiting, started[1]?.isClosed], [0, true]);
    });

    test("is left alone while a call waits for it that may take longer", async () => {
      const clock = new VirtualClock();
      const { started, transport } = createStoppable();
      const hub = await clock.until(openHub({ one: { transport } }, { clock, random }));
      started[0]!.isStopped = true;
      const patient = hub.callTool("one__echo", { text: "b" }, { timeout: 1_200_000 });
      for (let minute = 0; minute < 10; minute++) {
        await clock.until(hub.callTool("one__echo", { text: "a" }, { timeout: 1_000 }));
        await clock.advance(60_000);
      }
      assertEquals([started.length, started[0]?.isClosed], [1, false]);
      await clock.until(patient);
      await clock.until(hub.close());
    });
  });
}

test("an older server that refuses to greet each time that it is started is not taken to be connected", async () => {
  const clock = new VirtualClock();
  let [starts, isRefusing] = [0, false];
  let kill = () => {};
  const transport = () =>
    new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      starts++;
      kill = () => void far.close();
      if (!isRefusing) void serveChannel(createServer("one"), far, { eras: ["legacy"] });
      else {
        const text = (given: string): void => {
          const { id } = JSON.parse(given);
          const error = { code: -32603, message: "no license" };
          if (id !== undefined) void far.write([JSON.stringify({ jsonrpc: "2.0", id, error })]);
        };
        void far.open({ text, end() {} });
      }
      return near;
    });
  const hub = await clock.until(openHub({ one: { transport } }, { clock, random }));
  isRefusing = true;
  kill();
  const states = new Set<string | undefined>();
  for (let minute = 0; minute < 20; minute++) {
    await clock.advance(60_000);
    assertEquals((await clock.until(hub.callTool("one__echo", { text: "a" }))).isError, true);
    states.add(stateOf(hub, "one"));
  }
  assertEquals([...states], ["failed"]);
  assert(starts < 15, `${starts} starts`);
  isRefusing = false;
  await clock.advance(300_000);
  assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "a" }))), "one: a");
  await clock.until(hub.close());
});

test("a WebSocket of a stored catalog that is opened anew, since nothing came any more, is listed", async () => {
  const clock = new VirtualClock();
  const opened: { isStopped: boolean }[] = [];
  const open = createOpenHub(async (target, options) => {
    const transport = new ChannelTransport(() => {
      const [near, far] = createMemoryPair();
      const socket = { isStopped: false };
      const server = createServer("one");
      if (opened.push(socket) > 2) server.tool("more", {}, () => "it is new");
      void serveChannel(server, far, { eras: ["modern"] });
      return {
        label: "ws://one.example/",
        open: (receiver) => near.open(receiver),
        write: (messages) => socket.isStopped ? undefined : near.write(messages),
        close: () => near.close(),
      };
    });
    const verdict = isSnapshot(target) ? target.verdict : undefined;
    return await connect(transport, { ...options, ...(verdict && { verdict }) });
  });
  const servers = { one: { url: "ws://one.example/" } };
  const first = await clock.until(open(servers, { clock, random }));
  const catalog = first.catalog();
  await clock.until(first.close());
  const hub = await clock.until(open(servers, { clock, random, catalog }));
  assertEquals(textOf(await clock.until(hub.callTool("one__echo", { text: "a" }))), "one: a");
  opened[1]!.isStopped = true;
  for (let call = 0; call < 5; call++) {
    await clock.until(hub.callTool("one__echo", { text: "a" }, { timeout: 1_000 }));
  }
  for (let minute = 0; minute < 10; minute++) {
    await clock.until(hub.callTool("one__echo", { text: "a" }));
    await clock.advance(60_000);
  }
  assertEquals([opened.length, textOf(await clock.until(hub.callTool("one__more")))], [3, "it is new"]);
  await clock.until(hub.close());
});
