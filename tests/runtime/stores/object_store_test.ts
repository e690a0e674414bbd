/** Stores of Workers, over storages in memory: the real ones are in `workerd_local_test.ts`. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConnectionClosedError, McpError } from "../../../src/protocol/errors.ts";
import { createKvStore } from "../../../src/runtime/stores/kv_store.ts";
import { createObjectStore, type ObjectStorage } from "../../../src/runtime/stores/object_store.ts";
import { createStubStore, StoreObject } from "../../../src/runtime/stores/store_object.ts";
import { storeSuite } from "../../suites/store.ts";

/** A storage that takes its time, so that steps of others come in between. */
function createStorage(values = new Map<string, unknown>()): ObjectStorage {
  const pause = () => new Promise<void>((resolve) => void setTimeout(resolve, 1));
  return {
    async get(key) {
      await pause();
      return values.get(key);
    },
    async put(key, value) {
      await pause();
      values.set(key, value);
    },
    async delete(key) {
      await pause();
      return values.delete(key);
    },
  };
}

/** The way to an object in memory. */
function createStub(object: StoreObject): { fetch(url: string, init: RequestInit): Promise<Response> } {
  return { fetch: (url, init) => object.fetch(new Request(url, init)) };
}

storeSuite("createObjectStore", () => {
  const store = createObjectStore(createStorage());
  return { stores: [store, store] };
}, { compares: true });

storeSuite("createStubStore", () => {
  const object = new StoreObject({ storage: createStorage() });
  return { stores: [createStubStore(createStub(object)), createStubStore(() => createStub(object))] };
}, { compares: true });

storeSuite("createKvStore", () => {
  const texts = new Map<string, string>();
  const namespace = {
    get: (name: string) => Promise.resolve(texts.get(checked(name)) ?? null),
    put: (name: string, value: string) => Promise.resolve(void texts.set(checked(name), value)),
    delete: (name: string) => Promise.resolve(void texts.delete(checked(name))),
  };
  return { stores: [createKvStore(namespace, { prefix: "" }), createKvStore(namespace, { prefix: "" })] };
}, { compares: false });

/** What KV refuses. */
function checked(name: string): string {
  const bytes = new TextEncoder().encode(name).length;
  assert(bytes > 0 && bytes <= 512 && name !== "." && name !== "..", `KV takes no name like ${JSON.stringify(name)}`);
  return name;
}

describe("createObjectStore", () => {
  test("what is no text is not there", async () => {
    const store = createObjectStore(createStorage(new Map<string, unknown>([["number", 1]])));
    assertEquals(await store.get("number"), undefined);
    assertEquals(await store.compareAndSet("number", undefined, "one"), true);
    assertEquals(await store.get("number"), "one");
  });

  test("keeps plain keys as they are", async () => {
    const values = new Map<string, unknown>();
    const store = createObjectStore(createStorage(values));
    for (const key of ["mcp-task:owner:0a", "a.b/c", "k".repeat(680)]) await store.set(key, "x");
    assertEquals([...values.keys()], ["mcp-task:owner:0a", "a.b/c", "k".repeat(680)]);
  });

  test("compares within a transaction of the storage, where it has one", async () => {
    const values = new Map<string, unknown>();
    const storage = createStorage(values);
    let transactions = 0;
    const store = createObjectStore({
      ...storage,
      get: () => Promise.reject(new Error("not within the transaction")),
      transaction: async (work) => {
        transactions++;
        return await work(storage);
      },
    });
    assertEquals(await store.compareAndSet("key", undefined, "one"), true);
    assertEquals([transactions, values.get("key")], [1, "one"]);
  });

  test("a step that fails holds up none after it", async () => {
    let fails = true;
    const storage = createStorage();
    const store = createObjectStore({
      ...storage,
      put: (key, value) => fails ? Promise.reject(new Error("storage failed")) : storage.put(key, value),
    });
    await assertRejects(() => store.set("key", "one"), Error, "storage failed");
    await assertRejects(() => store.compareAndSet("key", undefined, "one"), Error, "storage failed");
    fails = false;
    assertEquals(await store.compareAndSet("key", undefined, "one"), true);
    assertEquals(await store.get("key"), "one");
  });
});

describe("createKvStore", () => {
  test("names begin with the prefix", async () => {
    const names: string[] = [];
    const namespace = {
      get: () => Promise.resolve(null),
      put: (name: string) => Promise.resolve(void names.push(name)),
      delete: () => Promise.resolve(),
    };
    await createKvStore(namespace).set("a", "x");
    await createKvStore(namespace, { prefix: "mine:" }).set("a", "x");
    assertEquals(names, ["causeway:a", "mine:a"]);
    assertThrows(() => createKvStore(namespace, { prefix: "p".repeat(129) }), RangeError, "expected at most 128");
  });
});

describe("createStubStore", () => {
  const text = "canary of the text";

  test("says that the object cannot be reached", async () => {
    const store = createStubStore({ fetch: () => Promise.reject(new Error("Network connection lost")) });
    const error = await assertRejects(() => store.set("key", text), ConnectionClosedError, "Network connection lost");
    assertEquals([error.delivery, error.retryable, error.message.includes("canary")], ["unknown", true, false]);
  });

  test("is a class that the types of Workers take for a namespace: by a name that is only there for them", () => {
    // What `@cloudflare/workers-types` asks of `DurableObjectNamespace<StoreObject>`.
    const Branded: new (state: { storage: ObjectStorage }) => { readonly __DURABLE_OBJECT_BRAND: never } = StoreObject;
    assertEquals("__DURABLE_OBJECT_BRAND" in new Branded({ storage: createStorage() }), false);
  });

  test("says that what answers is no StoreObject", async () => {
    const answers = ["", "[]", "null", text, '{"other":1}', '{"value":7}', `{"value":{"a":"${text}"}}`];
    for (const answer of answers) {
      for (const status of [200, 404, 500]) {
        const store = createStubStore({ fetch: () => Promise.resolve(new Response(answer, { status })) });
        for (const work of [() => store.get("key"), () => store.compareAndSet("key", text, text)]) {
          const error = await assertRejects(work, McpError, "the store's object");
          assert(!error.message.includes("canary"), error.message);
        }
      }
    }
  });

  test("asks for a stub each time, where it is given a function", async () => {
    const object = new StoreObject({ storage: createStorage() });
    let made = 0;
    const store = createStubStore(() => {
      made++;
      return createStub(object);
    });
    await store.set("key", "one");
    assertEquals([await store.get("key"), made], ["one", 2]);
  });

  test("its object refuses what is no step, and keeps nothing of it", async () => {
    const values = new Map<string, unknown>();
    const object = new StoreObject({ storage: createStorage(values) });
    const bodies = [
      "",
      "null",
      "[]",
      "{}",
      '{"step":"get"}',
      '{"step":"set","key":"a"}',
      '{"step":"set","key":"a","value":null,"expected":null}',
      '{"step":"set","key":1,"value":"x","expected":null}',
      '{"step":"delete","key":"a","value":"x","expected":null}',
      '{"step":"compareAndSet","key":"a","value":1,"expected":null}',
      '{"step":"deleteAll","key":"a","value":null,"expected":null}',
    ];
    for (const body of bodies) {
      const response = await object.fetch(new Request("https://store.invalid/", { method: "POST", body }));
      assertEquals([response.status, (await response.json()).error], [400, "expected a step of a store"], body);
    }
    const response = await object.fetch(new Request("https://store.invalid/"));
    assertEquals(response.status, 400, await response.text());
    assertEquals(values.size, 0);
  });
});
