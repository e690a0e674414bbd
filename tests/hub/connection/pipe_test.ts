import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { ChannelTransport, createMemoryPair } from "../../../mod.ts";
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
