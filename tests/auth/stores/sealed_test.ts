import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals, assertRejects, assertThrows } from "@std/assert";
import { createMemoryStore, createSealedStore } from "../../../src/auth/mod.ts";
import type { SealedStoreOptions } from "../../../src/auth/mod.ts";
import { systemRandom } from "../../../src/ports.ts";
import { AuthorizationError, OverloadedError } from "../../../src/protocol/errors.ts";
import { storeSuite } from "../../suites/store.ts";
import { TestStore } from "../../support/test_store.ts";

const [one, two, three] = ["one", "two", "three"].map((name) =>
  new TextEncoder().encode(`canary ${name}: guess me! `.repeat(2))
);
assert(one && two && three);
const secret = "canary-7f3a a refresh token";

storeSuite("createSealedStore over memory", () => {
  const inner = createMemoryStore();
  return { stores: [createSealedStore(inner, { keys: one }), createSealedStore(inner, { keys: [one, two] })] };
}, { compares: true });

storeSuite("createSealedStore over a store that cannot compare", () => {
  const inner = new TestStore();
  return { stores: [createSealedStore(inner, { keys: one }), createSealedStore(inner, { keys: one })] };
}, { compares: false });

async function refuses(work: Promise<unknown>): Promise<void> {
  const error = await assertRejects(() => work, AuthorizationError, "Cannot open a row of the store");
  const shown = `${error.message} ${JSON.stringify(error)} ${String(error.cause)}`;
  assert(!shown.includes("canary"), shown);
}

describe("a sealed row", () => {
  test("shows nothing, is never the same twice, and keeps its key", async () => {
    const inner = new TestStore();
    const store = createSealedStore(inner, { keys: one });
    await store.set("row", secret);
    const first = inner.texts.get("row") ?? "";
    await store.set("row", secret);
    const second = inner.texts.get("row") ?? "";
    assert(/^s1\.[\w-]+$/.test(first), first);
    assertNotEquals(first, second);
    assertNotEquals(first.slice(3, 19), second.slice(3, 19));
    assert(!atob(first.slice(3).replaceAll("-", "+").replaceAll("_", "/")).includes("canary"));
    assertEquals([...inner.texts.keys()], ["row"]);
  });

  test("does not open under another key, for another tenant, or with another secret", async () => {
    const inner = new TestStore();
    const store = createSealedStore(inner, { keys: one, tenant: "ada" });
    await store.set("row", secret);
    inner.texts.set("other", inner.texts.get("row") ?? "");
    await refuses(store.get("other"));
    await refuses(createSealedStore(inner, { keys: one, tenant: "bob" }).get("row"));
    await refuses(createSealedStore(inner, { keys: one }).get("row"));
    await refuses(createSealedStore(inner, { keys: [two, three], tenant: "ada" }).get("row"));
    assertEquals(await store.get("row"), secret);
  });

  test("a tenant and a row that share letters are not mistaken for each other", async () => {
    const inner = new TestStore();
    await createSealedStore(inner, { keys: one, tenant: "a" }).set("b,c", secret);
    inner.texts.set("c", inner.texts.get("b,c") ?? "");
    await refuses(createSealedStore(inner, { keys: one, tenant: 'a","b' }).get("c"));
    await refuses(createSealedStore(inner, { keys: one, tenant: "a,b" }).get("c"));
  });

  test("a change of any byte is found: version, nonce, text, tag, length", async () => {
    const inner = new TestStore();
    const store = createSealedStore(inner, { keys: [one, two] });
    await store.set("row", "short");
    const sealed = inner.texts.get("row") ?? "";
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (let at = 0; at < sealed.length; at++) {
      const letter = letters[(letters.indexOf(sealed[at] ?? "") + 1) % 64] ?? "";
      inner.texts.set("row", sealed.slice(0, at) + letter + sealed.slice(at + 1));
      await refuses(store.get("row"));
    }
    const body = sealed.slice(3);
    for (const text of ["", "s1.", body, `s2.${body}`, sealed + "A", sealed + "=", sealed.slice(0, -1), ` ${sealed}`]) {
      inner.texts.set("row", text);
      await refuses(store.get("row"));
    }
    for (let cut = 1; cut < body.length; cut += 5) {
      inner.texts.set("row", sealed.slice(0, -cut));
      await refuses(store.get("row"));
    }
    inner.texts.set("row", "canary that was never sealed");
    await refuses(store.get("row"));
  });

  test("that does not open can be replaced and deleted, and wins no comparison", async () => {
    const inner = createMemoryStore();
    const store = createSealedStore(inner, { keys: one });
    await inner.set("row", "nonsense");
    await refuses(store.compareAndSet("row", undefined, "new"));
    await refuses(store.compareAndSet("row", "nonsense", "new"));
    assertEquals(await inner.get("row"), "nonsense");
    await store.set("row", "new");
    assertEquals(await store.get("row"), "new");
    await inner.set("row", "nonsense");
    await store.delete("row");
    assertEquals(await store.get("row"), undefined);
  });
});

describe("keys of a sealed store", () => {
  test("the first seals, all open; a row moves to the new key when it is written", async () => {
    const inner = createMemoryStore();
    await createSealedStore(inner, { keys: one }).set("row", secret);
    const both = createSealedStore(inner, { keys: [two, one] });
    assertEquals(await both.get("row"), secret);
    assertEquals(await both.compareAndSet("row", secret, "next"), true);
    assertEquals(await createSealedStore(inner, { keys: two }).get("row"), "next");
    await refuses(createSealedStore(inner, { keys: one }).get("row"));
    assertEquals(await createSealedStore(inner, { keys: [three, one, two] }).get("row"), "next");
  });

  test("are bytes or base64, of either alphabet, with or without padding", async () => {
    const bytes = Uint8Array.from({ length: 40 }, (_, index) => 250 + index);
    const text = btoa(String.fromCharCode(...bytes));
    assert(/[+/]/.test(text) && text.endsWith("="));
    const inner = createMemoryStore();
    await createSealedStore(inner, { keys: bytes }).set("row", secret);
    const url = text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
    for (const keys of [text, url, [text]]) assertEquals(await createSealedStore(inner, { keys }).get("row"), secret);
    // What happens to the caller's bytes afterwards does not matter.
    const mine = bytes.slice();
    const store = createSealedStore(inner, { keys: mine });
    mine.fill(0);
    assertEquals(await store.get("row"), secret);
  });

  test("that are none are refused, without being shown", () => {
    const short = "canary-is-too-short";
    const bad: [unknown, string][] = [
      [[], '"keys" has no key'],
      [undefined, '"keys" has no key'],
      [null, '"keys" has no key'],
      [7, '"keys" has no key'],
      ["", 'Cannot use key 1 of "keys": expected bytes, or base64'],
      ["canary! no base64 at all, but long enough for one", 'Cannot use key 1 of "keys"'],
      [[one, 5], 'Cannot use key 2 of "keys"'],
      [btoa(short), `Key 1 of "keys" has ${short.length} bytes: expected at least 32`],
      [new Uint8Array(31), 'Key 1 of "keys" has 31 bytes: expected at least 32'],
      [[one, new Uint8Array(0)], 'Key 2 of "keys" has 0 bytes: expected at least 32'],
    ];
    for (const [keys, message] of bad) {
      const options: SealedStoreOptions = Object.assign({ keys: "" }, { keys });
      const error = assertThrows(() => createSealedStore(createMemoryStore(), options), TypeError, message);
      assert(error instanceof Error && !error.message.includes("canary") && !error.message.includes(btoa(short)));
    }
  });
});

describe("comparing in a sealed store", () => {
  test("begins again when the row was sealed anew with the same text", async () => {
    const inner = createMemoryStore();
    const store = createSealedStore(inner, { keys: one });
    await store.set("row", "same");
    let times = 0;
    const busy = createSealedStore({
      ...inner,
      async compareAndSet(key, expected, value) {
        if (times++ < 3) await store.set("row", "same");
        return await inner.compareAndSet(key, expected, value);
      },
    }, { keys: one });
    assertEquals(await busy.compareAndSet("row", "same", "next"), true);
    assertEquals([times, await store.get("row")], [4, "next"]);
  });

  test("loses when the row came to hold something else, and gives up when it never stands still", async () => {
    const inner = createMemoryStore();
    const store = createSealedStore(inner, { keys: one });
    let text = "other";
    const busy = createSealedStore({
      ...inner,
      async compareAndSet(key, expected, value) {
        await store.set("row", text);
        return await inner.compareAndSet(key, expected, value);
      },
    }, { keys: one });
    await store.set("row", "same");
    assertEquals(await busy.compareAndSet("row", "same", "next"), false);
    assertEquals(await store.get("row"), "other");
    text = "same";
    await store.set("row", "same");
    const error = await assertRejects(() => busy.compareAndSet("row", "same", "next"), OverloadedError, "100 times");
    assert(error.retryable);
  });

  test("takes null for nothing, as many a store says it", async () => {
    const inner = createMemoryStore();
    const shy = Object.assign({}, inner, { get: async (key: string) => await inner.get(key) ?? null });
    const store = createSealedStore(Object.assign({ ...inner }, shy as object), { keys: one });
    assertEquals(await store.get("row"), undefined);
    assertEquals(await store.compareAndSet("row", undefined, "one"), true);
    assertEquals(await store.get("row"), "one");
  });
});

test("each text is sealed with a fresh nonce from the given chance", async () => {
  let asked = 0;
  const random = { ...systemRandom, bytes: (count: number) => new Uint8Array(count).fill(++asked) };
  const inner = new TestStore();
  const store = createSealedStore(inner, { keys: one, random });
  for (let index = 1; index <= 3; index++) {
    await store.set("row", "same");
    assertEquals(inner.texts.get("row")?.slice(3, 19), btoa(String.fromCharCode(index).repeat(12)));
  }
});
