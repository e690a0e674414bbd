import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "node:test";
import { createKvStore } from "../../../src/runtime/stores/kv_store.ts";
import { createR2Store } from "../../../src/runtime/stores/r2_store.ts";
import type { R2Bucket } from "../../../src/runtime/stores/r2_store.ts";

/** A bucket in memory, whose lists come in pages of two. */
function createBucket(): { readonly bucket: R2Bucket; readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  const bucket: R2Bucket = {
    get: (name) => {
      const text = kept.get(name);
      return Promise.resolve(text === undefined ? null : { text: () => Promise.resolve(text) });
    },
    put: (name, value) => Promise.resolve(kept.set(name, value)),
    delete: (names) => {
      for (const name of [names].flat()) kept.delete(name);
      return Promise.resolve();
    },
    list: ({ prefix }) => {
      const all = [...kept.keys()].filter((key) => key.startsWith(prefix)).map((key) => ({ key }));
      return Promise.resolve({ objects: all.slice(0, 2), truncated: all.length > 2 });
    },
  };
  return { bucket, kept };
}

describe("a store in R2", () => {
  it("keeps, reads and forgets texts under its prefix", async () => {
    const { bucket, kept } = createBucket();
    const store = createR2Store(bucket, { prefix: "acme/" });
    assertEquals(await store.get("a"), undefined);
    await store.set("a", "one");
    assertEquals([await store.get("a"), [...kept.keys()]], ["one", ["acme/a"]]);
    await store.delete("a");
    assertEquals(await store.get("a"), undefined);
  });

  it("takes keys that the bucket would not take", async () => {
    const { bucket, kept } = createBucket();
    const store = createR2Store(bucket);
    for (const key of ["x".repeat(2_000), "ü", "", "a b"]) {
      await store.set(key, key);
      assertEquals(await store.get(key), key);
    }
    assertEquals([...kept.keys()].every((name) => /^causeway:[!-~]{1,200}$/.test(name)), true);
  });

  it("is emptied in pages, and leaves what is another's", async () => {
    const { bucket, kept } = createBucket();
    const [own, other] = [createR2Store(bucket, { prefix: "own/" }), createR2Store(bucket, { prefix: "other/" })];
    for (const key of ["1", "2", "3", "4", "5"]) await own.set(key, key);
    await other.set("1", "kept");
    await own.clear();
    assertEquals([...kept], [["other/1", "kept"]]);
  });

  it("says at once that a bucket or namespace is not bound", () => {
    const env: { RESULTS?: never; CATALOGS?: never } = {};
    assertThrows(() => createR2Store(env.RESULTS!), TypeError, "There is no R2 bucket: bind one in wrangler.toml");
    assertThrows(() => createKvStore(env.CATALOGS!), TypeError, "There is no KV namespace: bind one in wrangler.toml");
  });

  it("refuses a prefix that is too long", () => {
    assertThrows(() => createR2Store(createBucket().bucket, { prefix: "x".repeat(257) }), RangeError, "257");
  });
});
