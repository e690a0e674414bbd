/** Calls that wait until their server is connected. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair } from "../../mod.ts";
import type { ConnectServer, HubOptions } from "../../mod.ts";
import { createOpenHub } from "../../src/hub/open_hub.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { createServer, inMemory, textOf } from "./support.ts";

/** A lazy hub of one server, which takes so many milliseconds to connect. */
async function openSlowHub(delay: number, { clock, timeouts, own }: {
  readonly clock: VirtualClock;
  readonly timeouts?: HubOptions["timeouts"];
  readonly own?: HubOptions["timeouts"];
}) {
  const slowly: ConnectServer = async (target, options) => {
    await new Promise<void>((resolve) => void clock.schedule(resolve, delay));
    return await connect(target, options);
  };
  const one = { ...inMemory(createServer("one")).config, ...(own && { timeouts: own }) };
  return await createOpenHub(slowly)({ one }, { clock, lazy: true, ...(timeouts && { timeouts }) });
}

describe("a call that waits for its server", () => {
  test("takes the hub's time-outs where the server has none, and else the server's own in their place", async () => {
    const outcome = async (own: HubOptions["timeouts"]) => {
      const clock = new VirtualClock();
      const hub = await openSlowHub(2_000, { clock, timeouts: { total: 1_000 }, ...(own && { own }) });
      const result = await clock.until(hub.callTool({ server: "one", name: "echo" }, { text: "hi" }));
      await clock.until(hub.close());
      return result.isError ? "too late" : textOf(result);
    };
    assertEquals(await outcome(undefined), "too late");
    assertEquals(await outcome({ idle: 5_000 }), "one: hi");
    assertEquals(await outcome({ total: 1_500 }), "too late");
    assertEquals(await outcome({ total: 3_000 }), "one: hi");
  });

  test("is waited for when the hub is drained meanwhile; one that comes later is refused", async () => {
    const clock = new VirtualClock();
    const hub = await openSlowHub(2_000, { clock });
    const call = hub.callTool({ server: "one", name: "echo" }, { text: "hi" });
    const prompt = hub.getPrompt({ server: "one", name: "greet" }, { who: "you" });
    await clock.advance(500);
    const draining = hub.drain();
    const late = await clock.until(hub.callTool({ server: "one", name: "echo" }, { text: "late" }));
    await clock.until(draining);
    assertEquals([textOf(await call), (await prompt).messages.length], ["one: hi", 1]);
    assertEquals([late.isError, clock.monotonic() < 5_000], [true, true]);
  });
});

describe("a server that waits for its place among those that connect", () => {
  test("has all of its time left then: one that hangs before it does not fail it", async () => {
    const clock = new VirtualClock();
    const transport = () => new ChannelTransport(() => createMemoryPair()[0]);
    const hub = createOpenHub(connect)({ hangs: { transport }, one: inMemory(createServer("one")).config }, {
      clock,
      parallel: 1,
    });
    await using opened = await clock.until(hub);
    assertEquals(opened.status().map(({ name, state, retries }) => [name, state, retries]), [
      ["hangs", "reconnecting", 1],
      ["one", "connected", 0],
    ]);
  });
});
