/** A store that cannot compare, made one that can within one process. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { inTurn } from "../../../src/auth/stores/in_turn.ts";
import { storeSuite } from "../../suites/store.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

storeSuite("a store that cannot compare, in turn", () => {
  const store = inTurn(new TestStore());
  return { stores: [store, store] };
}, { compares: true });

describe("a store in turn", () => {
  test("is the very same where it can compare", () => {
    const store = createMemoryStore();
    assert(inTurn(store) === store);
  });

  test("keeps what was set last, however long each step takes, and keeps no key waiting for another", async () => {
    const clock = new VirtualClock();
    const inner = new TestStore();
    const store = inTurn(inner, clock);
    let release = (): void => {};
    inner.held = new Promise((resolve) => release = resolve);
    const first = store.set("key", "1");
    await clock.settle();
    inner.held = undefined;
    const others = Promise.all([store.set("key", "2"), store.delete("key"), store.set("key", "3")]);
    await store.set("other", "x");
    assertEquals([...inner.texts], [["other", "x"]]);
    release();
    await Promise.all([first, others]);
    assertEquals([await store.get("key"), clock.waiting], ["3", 0]);
  });

  test("a step that fails is told to its caller alone", async () => {
    const inner = new TestStore();
    inner.most = 1;
    const store = inTurn(inner);
    const failed = assertRejects(() => store.set("key", "too long"), Error, "this is too long");
    await store.set("key", "1");
    await failed;
    assertEquals(await store.compareAndSet("key", "1", "2"), true);
  });

  test("one that hangs holds up those after it for ten seconds", async () => {
    const clock = new VirtualClock();
    const inner = new TestStore();
    const store = inTurn(inner, clock);
    inner.held = new Promise(() => {});
    store.set("key", "1").catch(() => {});
    await clock.settle();
    inner.held = undefined;
    const after = Promise.all([
      store.compareAndSet("key", undefined, "2"),
      store.compareAndSet("key", undefined, "3"),
    ]);
    await clock.advance(9_999);
    assertEquals(inner.texts.size, 0);
    await clock.advance(1);
    assertEquals([await after, inner.texts.get("key")], [[true, false], "2"]);
    await store.set("key", "4");
    assertEquals(clock.waiting, 0);
  });

  test("takes null for nothing", async () => {
    const { set, delete: remove } = createMemoryStore();
    const get = (): Promise<undefined> => Promise.resolve(null as unknown as undefined);
    const store = inTurn({ get, set, delete: remove });
    assertEquals([await store.get("key"), await store.compareAndSet("key", undefined, "1")], [undefined, true]);
  });
});
