import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { SharedQuestions } from "../../../src/hub/pins/asked.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import type { PinnedHub } from "../../../src/hub/pins/mod.ts";
import { turns, until } from "../../support/clients.ts";
import { PlayedHub, refusalOf, send } from "./support.ts";

const identities = { shop: { url: "https://shop.test/mcp" } };

interface Question {
  answer(yes: boolean): void;
  fail(reason: Error): void;
}

type MemoryStore = ReturnType<typeof createMemoryStore>;

/** A hub whose one tool has changed, with a person who was asked of it once and could not say. */
async function changed(
  around: (store: MemoryStore) => MemoryStore = (store) => store,
): Promise<{ hub: PlayedHub; pinned: PinnedHub; asked: Question[] }> {
  const hub = new PlayedHub([send]);
  const store = createMemoryStore();
  await withPins(hub, { store, identities, onFirstSight: "trust" });
  hub.list([{ ...send, description: "Sends a mail to everybody" }]);
  const asked: Question[] = [];
  const approve = (): Promise<boolean> =>
    new Promise((resolve, reject) => asked.push({ answer: resolve, fail: reject }));
  const making = withPins(hub, { store: around(store), identities, onFirstSight: "ask", approve });
  await until(() => asked.length === 1);
  asked.pop()?.fail(new Error("nobody is there"));
  return { hub, pinned: await making, asked };
}

describe("calls of a changed tool at the same time", () => {
  for (const says of [true, false]) {
    test(`ask the person once, and the answer is that of all: ${says}`, async () => {
      const { hub, pinned, asked } = await changed();
      const calls = [pinned.callTool("shop__send"), pinned.callTool("shop__send")];
      const check = pinned.check();
      await until(() => asked.length > 0);
      await turns(20);
      for (const question of asked) question.answer(says);
      const results = await Promise.all(calls);
      await check;
      if (!says) results.forEach(refusalOf);
      assertEquals([asked.length, hub.calls], [1, says ? ["shop.send", "shop.send"] : []]);
    });
  }

  test("one that comes while the yes is written down does not ask again", async () => {
    let write = (): void => {};
    let isWriting = false;
    const held = new Promise<void>((resolve) => write = resolve);
    const { pinned, asked } = await changed((store) => ({
      ...store,
      get: (key) => store.get(key),
      compareAndSet: async (...change) => {
        isWriting = true;
        await held;
        return await store.compareAndSet(...change);
      },
    }));
    const first = pinned.callTool("shop__send");
    await until(() => asked.length === 1);
    asked[0]?.answer(true);
    await until(() => isWriting);
    const second = pinned.callTool("shop__send");
    await turns(20);
    for (const question of asked) question.answer(true);
    write();
    assertEquals([(await first).isError, (await second).isError, asked.length], [undefined, undefined, 1]);
  });
});

describe("a question that several want to know", () => {
  test("is closed when the last of them has left, and not before; then it is asked again", async () => {
    const questions = new SharedQuestions();
    const signals: AbortSignal[] = [];
    const ask = (signal: AbortSignal): Promise<unknown> => {
      signals.push(signal);
      return signals.length === 1 ? new Promise(() => {}) : Promise.resolve("yes");
    };
    const [one, two] = [new AbortController(), new AbortController()];
    const first = questions.ask("a", ask, one.signal);
    const second = questions.ask("a", ask, two.signal);
    one.abort(new Error("the first has left"));
    await assertRejects(() => first, Error, "the first has left");
    assertEquals(signals.map(({ aborted }) => aborted), [false]);
    two.abort(new Error("the second has left"));
    await assertRejects(() => second, Error, "the second has left");
    assertEquals(signals.map(({ aborted }) => aborted), [true]);
    assertEquals(await questions.ask("a", ask, undefined), "yes");
    assertEquals(signals.map(({ aborted }) => aborted), [true, false]);
  });
});
