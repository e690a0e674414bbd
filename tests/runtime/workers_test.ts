/** The storage of a Durable Object as a `Store`. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createObjectStore } from "../../src/runtime/workers.ts";

describe("createObjectStore", () => {
  test("keeps, replaces and forgets texts; what is no text is not there", async () => {
    const values = new Map<string, unknown>([["number", 1]]);
    const store = createObjectStore({
      get: (key) => Promise.resolve(values.get(key)),
      put: (key, value) => Promise.resolve(void values.set(key, value)),
      delete: (key) => Promise.resolve(values.delete(key)),
    });
    assertEquals([await store.get("a"), await store.get("number")], [undefined, undefined]);
    await store.set("a", "one");
    await store.set("a", "two");
    assertEquals(await store.get("a"), "two");
    await store.delete("a");
    await store.delete("a");
    assertEquals(await store.get("a"), undefined);
  });
});
