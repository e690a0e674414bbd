import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { TimeoutError } from "../../mod.ts";
import { connectShared, textOf, withModern } from "../support/clients.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

/** Of a request that is gone: nothing wakes any more. */
const gone = { schedule: () => () => {} };

describe("a client that requests share", () => {
  test("lets go of calls whose request is gone, once their time is over, and of no other", async () => {
    const clock = new VirtualClock();
    await withModern(
      async (client) => {
        const left = Array.from({ length: 3 }, () => client.callTool("slow", {}, { timeout: 20_000, timer: gone }));
        const live = client.callTool("slow", {}, { timeout: 60_000 });
        const ends = left.map((call) => assertRejects(() => call, TimeoutError, "20000 ms"));
        await clock.advance(20_000);
        assertEquals(textOf(await client.callTool("echo", { text: "soon" })), "soon");
        assertEquals(await state(left), ["waits", "waits", "waits"]);
        await clock.advance(12_000);
        assertEquals(textOf(await client.callTool("echo", { text: "later" })), "later");
        await Promise.all(ends);
        assertEquals(await state([...left, live]), ["failed", "failed", "failed", "waits"]);
        const end = assertRejects(() => live, TimeoutError);
        await clock.advance(60_000);
        await end;
      },
      { client: { clock } },
      connectShared,
    );
  });

  test("wakes for a call by its own timer, where it has one", async () => {
    const clock = new VirtualClock();
    const waits: number[] = [];
    const timer = {
      schedule(work: () => void, milliseconds: number) {
        waits.push(milliseconds);
        return clock.schedule(work, milliseconds);
      },
    };
    await withModern(
      async (client) => {
        const end = assertRejects(() => client.callTool("slow", {}, { timeout: 2_500, timer }), TimeoutError);
        await clock.advance(2_500);
        await end;
        // And once more after each wait, when what came meanwhile is in.
        assertEquals(waits, [1_000, 0, 1_000, 0, 500, 0]);
      },
      { client: { clock } },
      connectShared,
    );
  });
});

/** How calls do. */
function state(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const later = Promise.resolve().then(() => Promise.resolve()).then(() => "waits");
  return Promise.all(calls.map((call) => Promise.race([call.then(() => "answered", () => "failed"), later])));
}
