import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Hub } from "../../../src/hub/hub.ts";
import type { ClientOptions } from "../../../mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { askingServer } from "../support/by_hand.ts";
import { all, inMemory, open, textOf } from "./support.ts";

/** Waits in real time: the clients in front and the servers have their own clock. */
async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    assert(turn < 4_000, what);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("what a server asks on no call in particular may be for one that took too long: nobody else is asked", async () => {
  const clock = new VirtualClock();
  const server = askingServer({ timeouts: { total: 1_000 } });
  await using scene = await open({ one: server.config }, { clock }, { clock });
  const asked: string[] = [];
  const join = (name: string) => {
    const elicitation: NonNullable<ClientOptions["handlers"]>["elicitation"] = () => {
      asked.push(name);
      return { action: "accept", content: {} };
    };
    return scene.join("legacy", { handlers: { elicitation } });
  };
  const [ada, bob] = [await join("ada"), await join("bob")];
  const late = ada.callTool("one__hang");
  await until(() => server.calls === 1, "the first one is there");
  await clock.advance(500);
  const waiting = bob.callTool("one__hang");
  await until(() => server.calls === 2, "the second one is there");
  await clock.advance(500);
  assertEquals((await late).isError, true);
  const answer = server.ask();
  assertStringIncludes((await answer).error?.message ?? "", "it is not known whom to ask");
  assertEquals(asked, []);
  await clock.advance(500);
  await waiting;
});

describe("a turn at a server ends", () => {
  test("when the server has answered without the answer that it asked for, and the caller does not come back", async () => {
    const server = new McpServer({ name: "one", version: "1.0.0" });
    let asked = false;
    let goOn = () => {};
    server.tool("asks", {}, async (_, context) => {
      const enough = new Promise<void>((resolve) => goOn = resolve);
      const answer = context.elicit({ message: "?", requestedSchema: { type: "object", properties: {} } });
      await Promise.race([answer.catch(() => {}), enough]);
      return "went on";
    });
    server.tool("sum", {}, () => "3");
    const clock = new VirtualClock();
    await using scene = await open({ one: inMemory(server, { eras: ["legacy"] }).config }, { takesTurns: true, clock });
    const client = await scene.join("modern", {
      handlers: {
        elicitation: () => {
          asked = true;
          return new Promise(() => {});
        },
      },
    });
    const controller = new AbortController();
    const call = client.callTool("one__asks", {}, { signal: controller.signal });
    await until(() => asked, "it is asked");
    controller.abort(new Error("enough"));
    await assertRejects(() => call, Error, "enough");
    const other = await scene.join("modern");
    let isDone = false;
    const sum = other.callTool("one__sum").finally(() => isDone = true);
    await clock.settle();
    assertEquals(isDone, false);
    goOn();
    await until(() => isDone, "it is the other one's turn");
    assertEquals(textOf(await sum), "3");
  });

  test("when its caller gives no answer in time, and a moment later, in which the server may still ask", async () => {
    const clock = new VirtualClock();
    const options = { takesTurns: true, clock, answerTime: 60_000 };
    await using scene = await open({ one: all("one", "legacy").config }, options);
    const client = await scene.join("modern", { capabilities: { elicitation: { form: {} } } });
    const asked = await client.callTool("one__asks").then(() => undefined, (error) => error);
    assert(asked?.pending, "it asks");
    const other = await scene.join("modern");
    let isDone = false;
    const sum = other.callTool("one__sum", { a: 1, b: 2 }).finally(() => isDone = true);
    await clock.advance(60_000);
    await until(() => scene.hub.status()[0]?.active === 0, "the call is ended");
    await clock.advance(4_999);
    assertEquals(isDone, false);
    await clock.advance(1);
    assertEquals((await sum).structuredContent, { sum: 3 });
    assertEquals(clock.waiting, 0);
  });

  test("a moment after it took too long while it waited for answers, in which the server may still ask", async () => {
    const clock = new VirtualClock();
    const { config } = all("one", "legacy");
    await using scene = await open({ one: { ...config, timeouts: { total: 1_000 } } }, { takesTurns: true, clock }, {
      clock,
    });
    const client = await scene.join("modern", { capabilities: { elicitation: { form: {} } } });
    const asked = await client.callTool("one__asks").then(() => undefined, (error) => error);
    assert(asked?.pending, "it asks");
    const other = await scene.join("modern");
    let isDone = false;
    await clock.advance(1_000);
    await until(() => scene.hub.status()[0]?.active === 0, "the call is ended");
    const sum = other.callTool("one__sum", { a: 1, b: 2 }).finally(() => isDone = true);
    await clock.advance(4_999);
    assertEquals(isDone, false);
    await clock.advance(1);
    assertEquals((await sum).structuredContent, { sum: 3 });
  });

  test("with its gateway, which leaves nothing behind of a call that was given up", async () => {
    const clock = new VirtualClock();
    await using scene = await open({ one: all("one", "legacy").config }, { takesTurns: true, clock });
    const client = await scene.join("modern");
    const controller = new AbortController();
    const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
    await until(() => scene.hub.status()[0]?.active === 1, "it is called");
    controller.abort(new Error("enough"));
    await assertRejects(() => hanging, Error, "enough");
    await until(() => clock.waiting === 1, "the server may still ask");
    scene.gateway.close();
    assertEquals(clock.waiting, 0);
  });

  test("when what is around the hub throws at once", async () => {
    let isBad = true;
    const around = (hub: Hub): Hub =>
      new Proxy(hub, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target);
          if (typeof value !== "function") return value;
          if (key !== "callTool" || !isBad) return value.bind(target);
          return () => {
            isBad = false;
            throw new TypeError("it is broken");
          };
        },
      });
    await using scene = await open({ one: all("one", "legacy").config }, { takesTurns: true }, { around });
    const client = await scene.join("modern");
    assertEquals((await client.callTool("one__sum", { a: 1, b: 2 })).isError, true);
    assertEquals((await client.callTool("one__sum", { a: 1, b: 2 }, { timeout: 5_000 })).structuredContent, { sum: 3 });
  });
});
