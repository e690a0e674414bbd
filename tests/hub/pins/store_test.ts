import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, test } from "node:test";
import { createMemoryStore } from "../../../src/auth/mod.ts";
import { withPins } from "../../../src/hub/pins/mod.ts";
import type { PinOptions } from "../../../src/hub/pins/mod.ts";
import type { Store } from "../../../src/ports.ts";
import { TestStore } from "../../support/test_store.ts";
import { PlayedHub, refusalOf, send } from "./support.ts";

const options = { identities: { shop: { url: "https://shop.test/mcp" } }, onFirstSight: "trust" as const };
const key = "pins/shop";

/** A store whose n-th operation fails. */
function failingAt(inner: Required<Store>, turn: number): { store: Store; operations: () => number } {
  let operations = 0;
  const step = <Value>(work: () => Promise<Value>): Promise<Value> =>
    ++operations === turn ? Promise.reject(new Error("the disk is on fire, access_token=s3cret")) : work();
  return {
    operations: () => operations,
    store: {
      get: (name) => step(() => inner.get(name)),
      set: (name, value) => step(() => inner.set(name, value)),
      delete: (name) => step(() => inner.delete(name)),
      compareAndSet: (name, expected, value) => step(() => inner.compareAndSet(name, expected, value)),
    },
  };
}

describe("pins and a store that fails", () => {
  test("whichever operation fails: nothing is called that is not kept, and it heals", async () => {
    let fired = 0;
    for (let turn = 1;; turn++) {
      const inner = createMemoryStore();
      const { store, operations } = failingAt(inner, turn);
      const hub = new PlayedHub([send]);
      const pinned = await withPins(hub, { ...options, store });
      if (operations() < turn) break;
      fired++;
      assertEquals(pinned.tools(), [], `${turn}`);
      const [report] = await pinned.report();
      assertEquals([report?.status, hub.calls.length], ["unknown", 0]);
      assertStringIncludes(report?.reason ?? "", "the disk is on fire");
      assert(!report?.reason?.includes("s3cret"), "no secret of an error");
      assertEquals((await pinned.callTool("shop__send")).isError, undefined, "the next call reads again");
      assert((await inner.get(key))?.includes("Sends a mail"));
      assertEquals(hub.calls.length, 1);
    }
    assertEquals(fired, 2, "a read and a write");
  });

  test("that stays broken blocks everything; what was read before stays good", async () => {
    const store = new TestStore();
    const hub = new PlayedHub([send]);
    const before = await withPins(hub, { ...options, store });
    store.mood = "fails";
    const after = await withPins(new PlayedHub([send]), { ...options, store });
    assertEquals([before.tools().length, after.tools().length], [1, 0]);
    assertStringIncludes(refusalOf(await after.callTool("shop__send")), "is blocked: the disk is on fire");
    hub.list([{ ...send, title: "Mail" }]);
    refusalOf(await before.callTool("shop__send"));
    const report = (await after.report())[0];
    await assertRejects(() => after.approve("shop__send", report?.fingerprint ?? ""), Error, "on fire");
    store.mood = "well";
    await after.check();
    assertEquals(after.tools().length, 1);
  });

  test("an approval that cannot be kept is none", async () => {
    const store = new TestStore();
    store.most = 10;
    const hub = new PlayedHub([send]);
    const pinned = await withPins(hub, { ...options, store, onFirstSight: "ask", approve: () => true });
    assertEquals(pinned.tools(), []);
    assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "this is too long");
    assertEquals([hub.calls, store.texts.size], [[], 0]);
  });

  test("whatever was written there by somebody else: nothing is trusted", async () => {
    const store = createMemoryStore();
    await withPins(new PlayedHub([send]), { ...options, store });
    const right = await store.get(key) ?? "";
    assertEquals((await withPins(new PlayedHub([send]), { ...options, store })).tools().length, 1);
    const row = JSON.parse(right);
    const evil = { ...send, description: "Sends everything" };
    const pin = row.pins.send;
    const texts = [
      "",
      "null",
      "[]",
      "{}",
      right.slice(0, -1),
      JSON.stringify({ ...row, kind: "x" }),
      JSON.stringify({ ...row, version: 2 }),
      JSON.stringify({ ...row, pins: [] }),
      JSON.stringify({ ...row, pins: { send: null } }),
      JSON.stringify({ ...row, pins: { send: { ...pin, definition: evil } } }),
      JSON.stringify({ ...row, pins: { send: { ...pin, identity: { ...pin.identity, digest: "0" } } } }),
      JSON.stringify({ ...row, pins: { send: { ...pin, identity: { digest: pin.identity.digest } } } }),
      JSON.stringify({ ...row, pins: { other: pin } }),
      JSON.stringify({ ...row, pins: { send: { ...pin, fingerprint: "" } } }),
    ];
    for (const text of texts) {
      for (const tool of [send, evil]) {
        await store.set(key, text);
        const hub = new PlayedHub([tool]);
        const pinned = await withPins(hub, { ...options, store });
        assertEquals(pinned.tools(), [], text);
        assertStringIncludes(refusalOf(await pinned.callTool("shop__send")), "damaged", text);
        assertEquals([hub.calls, await store.get(key)], [[], text], "and nothing is written over it");
      }
    }
  });

  test("that says null where there is nothing has nothing", async () => {
    const inner = createMemoryStore();
    const store = { ...inner, get: async (name: string) => await inner.get(name) ?? null as unknown as undefined };
    assertEquals((await withPins(new PlayedHub([send]), { ...options, store })).tools().length, 1);
  });

  test("who is always slower than others gives up, and nothing is trusted", async () => {
    const inner = createMemoryStore();
    let attempts = 0;
    const store: Store = {
      ...inner,
      compareAndSet: () => {
        attempts++;
        return Promise.resolve(false);
      },
    };
    const pinned = await withPins(new PlayedHub([send]), { ...options, store });
    assertEquals([pinned.tools().length, attempts], [0, 10]);
    assertStringIncludes((await pinned.report())[0]?.reason ?? "", "others write there all the time");
  });

  test("what was approved is shown, also when an older look at the store ends later", async () => {
    const inner = createMemoryStore();
    let release = (): void => {};
    const late = new Promise<void>((resolve) => release = resolve);
    let isHeld = false;
    const store: Store = {
      ...inner,
      get: async (name) => {
        const text = await inner.get(name);
        if (isHeld) {
          isHeld = false;
          await late;
        }
        return text;
      },
    };
    const pinned = await withPins(new PlayedHub([send]), { ...options, store, onFirstSight: "ask" });
    const [report] = await pinned.report();
    isHeld = true;
    const looking = pinned.check();
    while (isHeld) await new Promise((resolve) => setTimeout(resolve, 1));
    await pinned.approve("shop__send", report?.fingerprint ?? "");
    assertEquals(pinned.tools().length, 1);
    release();
    await looking;
    assertEquals(pinned.tools().length, 1);
  });

  test("a person is asked once, also when others write in between", async () => {
    const inner = createMemoryStore();
    let attempts = 0;
    let asked = 0;
    const store: Store = {
      ...inner,
      compareAndSet: (name, expected, value) =>
        ++attempts < 4 ? Promise.resolve(false) : inner.compareAndSet(name, expected, value),
    };
    const approve: PinOptions["approve"] = () => {
      asked++;
      return true;
    };
    const pinned = await withPins(new PlayedHub([send]), { ...options, store, onFirstSight: "ask", approve });
    assertEquals([pinned.tools().length, attempts, asked], [1, 4, 1]);
  });

  test("who cannot answer has not refused: the next call asks again", async () => {
    let asked = 0;
    const hub = new PlayedHub([send]);
    const approve = () => {
      if (++asked === 1) throw new Error("the window is closed");
      return true;
    };
    const pinned = await withPins(hub, { ...options, store: createMemoryStore(), onFirstSight: "ask", approve });
    assertEquals([pinned.tools().length, asked], [0, 1]);
    assertEquals((await pinned.callTool("shop__send")).isError, undefined);
    assertEquals([hub.calls.length, asked], [1, 2]);
  });
});
