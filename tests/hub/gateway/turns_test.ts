import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ClientOptions } from "../../../mod.ts";
import { Turns } from "../../../src/hub/gateway/calls/turns.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { all, open, textOf } from "./support.ts";

const answering: ClientOptions = {
  handlers: { elicitation: () => ({ action: "accept", content: { name: "somebody" } }) },
};

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await undefined;
}

describe("turns at a server", () => {
  const never = (): AbortSignal => new AbortController().signal;

  test("go round in order; calls of one caller go side by side", async () => {
    const turns = new Turns();
    const log: string[] = [];
    const ends = new Map<string, () => void>();
    const call = async (name: string, caller: string | undefined): Promise<void> => {
      const end = await turns.take("one", caller, never());
      log.push(name);
      ends.set(name, end);
    };
    const calls = [call("a1", "a"), call("b1", "b"), call("c1", "c"), call("a2", "a"), call("b2", "b")];
    await settle();
    assertEquals(log, ["a1", "a2"]);
    ends.get("a1")?.();
    await settle();
    assertEquals(log.length, 2);
    ends.get("a2")?.();
    await settle();
    assertEquals(log, ["a1", "a2", "b1", "b2"]);
    ends.get("b1")?.();
    ends.get("b2")?.();
    await Promise.all(calls);
    assertEquals(log.at(-1), "c1");
    ends.get("c1")?.();
    await call("d1", "d");
    assertEquals(log.at(-1), "d1");
  });

  test("belong to the next caller from then on: who had one before waits again", async () => {
    const turns = new Turns();
    const begun: string[] = [];
    const take = (caller: string): Promise<() => void> =>
      turns.take("one", caller, never()).then((end) => {
        begun.push(caller);
        return end;
      });
    const first = await take("a");
    const second = take("b");
    first();
    await second;
    const third = take("a");
    const own = await take("b");
    assertEquals(begun, ["a", "b", "b"]);
    (await second)();
    own();
    (await third)();
    assertEquals(begun, ["a", "b", "b", "a"]);
  });

  test("are of one server each, and nobody that is known is the same as nobody", async () => {
    const turns = new Turns();
    const end = await turns.take("one", undefined, never());
    (await turns.take("two", undefined, never()))();
    let isNext = false;
    const next = turns.take("one", undefined, never()).then((own) => {
      isNext = true;
      return own;
    });
    await settle();
    assertEquals(isNext, false);
    end();
    (await next)();
  });

  test("are left by who gives up", async () => {
    const turns = new Turns();
    const end = await turns.take("one", "a", never());
    const controller = new AbortController();
    const waiting = turns.take("one", "b", controller.signal);
    const last = turns.take("one", "c", never());
    controller.abort(new Error("enough"));
    await assertRejects(() => waiting, Error, "enough");
    await assertRejects(() => turns.take("one", "a", controller.signal), Error, "enough");
    end();
    (await last)();
  });

  test("are left by nobody else where a call is given up that has begun", async () => {
    const turns = new Turns();
    const end = await turns.take("one", "a", never());
    const controller = new AbortController();
    const begun = turns.take("one", "b", controller.signal);
    const last = turns.take("one", "c", never());
    end();
    const own = await begun;
    controller.abort(new Error("enough"));
    own();
    (await last)();
  });
});

for (const front of ["modern", "legacy"] as const) {
  describe(`a gateway that takes turns, ${front} in front`, () => {
    test("at a legacy pipe everybody is asked what belongs to them", async () => {
      const one = all("one", "legacy");
      await using scene = await open({ one: one.config }, { takesTurns: true });
      const clients = await Promise.all(
        [1, 2, 3, 4].map((number) =>
          scene.join(front, {
            handlers: { elicitation: () => ({ action: "accept", content: { name: `caller ${number}` } }) },
          })
        ),
      );
      const results = await Promise.all(clients.map((client) => client.callTool("one__asks")));
      assertEquals(results.map(textOf), [1, 2, 3, 4].map((number) => `caller ${number}, caller ${number}`));
      assertEquals(one.runs.count, 4);
    });

    test("a call that is given up lets the next one go; a modern server is not held up", async () => {
      const [one, two] = [all("one", "legacy"), all("two", "modern")];
      const clock = new VirtualClock();
      await using scene = await open({ one: one.config, two: two.config }, { takesTurns: true, clock });
      const client = await scene.join(front);
      const controller = new AbortController();
      const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
      for (let turn = 0; scene.hub.status()[0]?.active !== 1; turn++) {
        assert(turn < 4_000, "it is called");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const held = client.callTool("one__sum", { a: 1, b: 2 });
      const other = client.callTool("two__hangs", {}, { signal: controller.signal });
      assertEquals((await client.callTool("two__sum", { a: 1, b: 2 })).structuredContent, { sum: 3 });
      assertEquals(scene.hub.status()[0]?.active, 1);
      controller.abort(new Error("enough"));
      await assertRejects(() => hanging, Error, "enough");
      await assertRejects(() => other, Error, "enough");
      // Its tool may go on for a moment, and ask.
      await clock.advance(4_999);
      assertEquals(scene.hub.status()[0]?.active, 0);
      await clock.advance(1);
      assertEquals((await held).structuredContent, { sum: 3 });
    });

    test("without turns, nobody is asked what may be for a call that was just given up", async () => {
      const one = all("one", "legacy");
      const clock = new VirtualClock();
      await using scene = await open({ one: one.config }, { clock });
      const [client, other] = [await scene.join(front), await scene.join(front, answering)];
      const controller = new AbortController();
      const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
      for (let turn = 0; scene.hub.status()[0]?.active !== 1; turn++) {
        assert(turn < 4_000, "it is called");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      controller.abort(new Error("enough"));
      await assertRejects(() => hanging, Error, "enough");
      for (let turn = 0; one.runs.count !== -1; turn++) {
        assert(turn < 4_000, "it is told");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assertEquals((await other.callTool("one__asks")).isError, true);
      await clock.advance(5_000);
      assertEquals(textOf(await other.callTool("one__asks")), "somebody, somebody");
    });

    test("a caller that is known is asked all the same, after a call of their own", async () => {
      const one = all("one", "legacy");
      await using scene = await open({ one: one.config }, { caller: () => "ada" });
      const client = await scene.join(front, answering);
      const controller = new AbortController();
      const hanging = client.callTool("one__hangs", {}, { signal: controller.signal });
      setTimeout(() => controller.abort(new Error("enough")), 20);
      await assertRejects(() => hanging, Error, "enough");
      assertEquals(textOf(await client.callTool("one__asks")), "somebody, somebody");
    });
  });
}
