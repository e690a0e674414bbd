/** Lists that several commands change at the same time. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../src/auth/mod.ts";
import { KeptList } from "../../src/cli/kept_list.ts";
import { OverloadedError } from "../../src/protocol/errors.ts";
import type { Store } from "../../src/ports.ts";

const isNumber = (value: unknown): value is number => typeof value === "number";

/** A store over which another command is quicker, so many times. */
function overtaken(inner: Required<Store>, times: number): Required<Store> {
  const other = new KeptList("list", isNumber);
  let turn = 0;
  return {
    ...inner,
    get: async (key) => {
      const text = await inner.get(key);
      if (turn < times) await other.change(inner, (all) => [...all, ++turn]);
      return text;
    },
  };
}

describe("a list that several commands change", () => {
  const list = new KeptList("list", isNumber);

  test("keeps what each of them has added", async () => {
    const inner = createMemoryStore();
    await list.change(overtaken(inner, 19), (all) => [...all, 100]);
    assertEquals(await list.read(inner), [...Array.from({ length: 19 }, (_, at) => at + 1), 100]);
  });

  test("is not written over by one that was overtaken each time: it says so", async () => {
    const inner = createMemoryStore();
    const error = await assertRejects(
      () => list.change(overtaken(inner, 20), (all) => [...all, 100]),
      OverloadedError,
      'Cannot change the list "list": others changed it each of 20 times, run the command again when they are done',
    );
    assert(error.retryable);
    assertEquals(await list.read(inner), Array.from({ length: 20 }, (_, at) => at + 1));
  });

  test("is kept in a store that cannot compare", async () => {
    const { get, set, delete: remove } = createMemoryStore();
    const store: Store = { get, set, delete: remove };
    await list.change(store, (all) => [...all, 1]);
    await list.change(store, (all) => [...all, 2]);
    assertEquals(await list.read(store), [1, 2]);
    await list.change(store, () => []);
    assertEquals(await get("list"), undefined);
  });
});
