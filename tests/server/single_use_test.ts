/** States that are good once. */
import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import { createSingleUseSealer, createStateSealer, type SingleUseOptions } from "../../src/server/mod.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { answerOf, stage, textOf } from "./attack/support.ts";
import { modernMeta, modernPost } from "./http/support.ts";

const bound = "ada";

function sealers(options: SingleUseOptions = {}) {
  const clock = new VirtualClock();
  const plain = createStateSealer({ clock, ttl: 5_000 });
  return { clock, plain, once: createSingleUseSealer(plain, { clock, ttl: 5_000, ...options }) };
}

describe("a state that is good once", () => {
  test("opens once, also when it comes many times at once, and not for anybody else", async () => {
    const { plain, once } = sealers();
    const sealed = await once.seal({ n: 1 }, bound);
    assertEquals(await once.open(sealed, "bob"), undefined);
    const opened = await Promise.all(Array.from({ length: 20 }, () => once.open(sealed, bound)));
    assertEquals(opened.filter((state) => state !== undefined), [{ n: 1 }]);
    assertEquals(await once.open(sealed, bound), undefined);
    assertEquals(await once.open(await once.seal({ n: 1 }, bound), bound), { n: 1 });
    // It seals nothing in another way.
    assertEquals(await plain.open(sealed, bound), { n: 1 });
  });

  test("is claimed where it is said to be: two processes that share the claims open it once", async () => {
    const seen = new Set<string>();
    const claim = (name: string) => Promise.resolve(!seen.has(name) && seen.add(name).size > 0);
    const { plain, once } = sealers({ claim });
    const other = createSingleUseSealer(plain, { claim });
    const sealed = await once.seal({}, bound);
    const opened = await Promise.all([once.open(sealed, bound), other.open(sealed, bound)]);
    assertEquals(opened.filter((state) => state !== undefined).length, 1);
    assertEquals(await once.open("garbage", bound), undefined);
    assertEquals([...seen].map((name) => name.length), [64]);
  });

  test("is remembered while it is good, as far as there is room", async () => {
    const { clock, once } = sealers({ max: 2 });
    const states = [
      await once.seal({ n: 0 }, bound),
      await once.seal({ n: 1 }, bound),
      await once.seal({ n: 2 }, bound),
    ];
    for (const [n, sealed] of states.entries()) assertEquals(await once.open(sealed, bound), { n });
    assertEquals(await once.open(states[2] ?? "", bound), undefined);
    // With more than there is room for, the oldest go.
    assertEquals(await once.open(states[0] ?? "", bound), { n: 0 });
    await clock.advance(5_000);
    assertEquals(await once.open(states[2] ?? "", bound), undefined);
  });

  test("is forgotten after its time, and not before", async () => {
    const { clock, plain } = sealers();
    const once = createSingleUseSealer(plain, { clock, ttl: 2_000 });
    const sealed = await once.seal({ n: 0 }, bound);
    assertEquals(await once.open(sealed, bound), { n: 0 });
    await clock.advance(1_999);
    assertEquals(await once.open(sealed, bound), undefined);
    await clock.advance(1);
    assertEquals(await once.open(sealed, bound), { n: 0 });
  });

  test("by default a tool whose round is sent twice runs once, and the second one is refused (S-090)", async () => {
    let paid = 0;
    const { handler } = stage({
      pay: async (_args, { elicit }) => {
        const { action } = await elicit({ message: "Pay?" });
        return action === "accept" ? `paid ${++paid}` : "kept";
      },
    });
    const _meta = { ...modernMeta(), "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };
    const send = async (more: JsonObject) =>
      await answerOf(await handler(modernPost("tools/call", { name: "pay", _meta, ...more })));
    const { result } = await send({});
    const round = {
      requestState: result?.requestState as string,
      inputResponses: { elicit_1: { action: "accept", content: {} } },
    };
    assertEquals(textOf(await send(round)), ["paid 1", false]);
    assertEquals(textOf(await send(round)), ["error -32602", true]);
    assertEquals(paid, 1);
  });

  test("numbers that make no sense are refused", () => {
    for (const options of [{ ttl: 0 }, { max: -1 }, { ttl: NaN }]) {
      assertThrows(() => sealers({ ...options }), RangeError, "expected a positive number");
    }
  });
});
