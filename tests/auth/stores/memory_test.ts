import { test } from "node:test";
import { assertEquals, assertLess, assertThrows } from "@std/assert";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { growth } from "../../support/clocks/growth.ts";
import { storeSuite } from "../../suites/store.ts";

storeSuite("createMemoryStore", () => {
  const store = createMemoryStore();
  return { stores: [store, store] };
}, { compares: true });

test("a memory store with a bound forgets what was not written for the longest time", async () => {
  const store = createMemoryStore({ most: 2 });
  await store.set("a", "1");
  await store.set("b", "2");
  await store.set("a", "3");
  assertEquals(await store.compareAndSet("c", undefined, "4"), true);
  assertEquals([await store.get("a"), await store.get("b"), await store.get("c")], ["3", undefined, "4"]);
  await store.delete("a");
  await store.set("d", "5");
  assertEquals([await store.get("c"), await store.get("d")], ["4", "5"]);
});

test("a bound that is none is refused", () => {
  for (const most of [0, -1, 1.5, NaN]) {
    assertThrows(() => createMemoryStore({ most }), RangeError, `"most" is ${most}, expected a whole number above 0`);
  }
});

test("writing one of very many texts anew costs no more than writing one of a few", async () => {
  const rewriting = await growth(15_000, (count) => {
    const store = createMemoryStore();
    // All that is measured is the store: garbage of keys and turns made it seem slower the more there was of it.
    const keys = Array.from({ length: count }, (_, at) => `key ${at}`);
    const writeAll = (value: string): void => {
      for (const key of keys) void store.set(key, value);
    };
    writeAll("old");
    return () => writeAll("new");
  });
  // It grows with the square where the gaps of all that was written anew are gone through each time.
  assertLess(rewriting, 8);
});
