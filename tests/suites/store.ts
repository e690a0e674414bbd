/**
 * What every adapter of the `Store` port must do.
 */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { Store } from "../../src/ports.ts";
import { increment } from "../runtime/stores/children/increment.ts";

/** A place with stores over it. */
export interface StorePlace {
  /** Two stores that share all that is kept: of two processes or isolates, where the adapter has them. */
  readonly stores: readonly [Store, Store];
  /** Lets go of it. */
  close?(): Promise<void> | void;
}

/** How a suite differs between adapters. */
export interface StoreSuiteOptions {
  /** Whether it can compare. */
  readonly compares: boolean;
  /** Whether texts stay as they are that are no proper Unicode (true). */
  readonly keepsHalves?: boolean;
  /** The longest text that is tried, in bytes (131,072). */
  readonly longest?: number;
  /** How many writers compete (20). */
  readonly writers?: number;
  /** Why it does not run, or false. */
  readonly skip?: string | false;
}

/** Keys that are hard on file systems, on KV or on URLs. */
export const awkwardKeys: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "/",
  "../../etc/passwd",
  "a/b",
  "a\\b",
  "C:\\x",
  "CON",
  "a\0b",
  "\n",
  "a",
  "A",
  "ä",
  "a\u0308",
  "\ud83d\ude00",
  "\ud800",
  "\ud801",
  "\ufeffa",
  "__proto__",
  "constructor",
  "%2e%2e%2f",
  "=sha256:",
  "k".repeat(500),
  "k".repeat(3_000),
  "k".repeat(2_999) + "l",
];

const texts = [
  "",
  " ",
  "null",
  "undefined",
  "\0",
  "a\r\nb\n",
  "\ufeffmark",
  "Grüße, 世界, \u{1f600}, e\u0301, \u202e",
  '{"key":"x","value":"y"}',
];
const halves = ["\ud83d", "a\udc00b"];

/** Registers the tests of one adapter. Each test has a place of its own. */
export function storeSuite(
  name: string,
  open: () => Promise<StorePlace> | StorePlace,
  options: StoreSuiteOptions,
): void {
  const { compares, keepsHalves = true, longest = 131_072, writers = 20, skip = false } = options;
  const inPlace = (work: (stores: readonly [Store, Store]) => Promise<void>) => async () => {
    const place = await open();
    try {
      await work(place.stores);
    } finally {
      await place.close?.();
    }
  };

  describe(`${name}: keeping`, () => {
    test(
      "what is not there is undefined, and deleting it is harmless",
      { skip },
      inPlace(async ([store]) => {
        assertEquals(await store.get("nothing"), undefined);
        await store.delete("nothing");
        await store.set("thing", "one");
        await store.delete("thing");
        await store.delete("thing");
        assertEquals(await store.get("thing"), undefined);
      }),
    );

    test(
      "the last text stays, and the other store sees it",
      { skip },
      inPlace(async ([store, other]) => {
        await store.set("key", "one");
        await store.set("key", "two");
        assertEquals([await store.get("key"), await other.get("key")], ["two", "two"]);
        await other.set("key", "three");
        assertEquals(await store.get("key"), "three");
        await other.delete("key");
        assertEquals(await store.get("key"), undefined);
      }),
    );

    test(
      "texts come back letter by letter",
      { skip },
      inPlace(async ([store, other]) => {
        for (const text of keepsHalves ? [...texts, ...halves] : texts) {
          await store.set("key", text);
          assertEquals(await other.get("key"), text, JSON.stringify(text));
        }
      }),
    );

    test(
      "long texts come back whole",
      { skip },
      inPlace(async ([store, other]) => {
        for (const length of [longest - 1, longest]) {
          const text = "0123456789abcdef".repeat(Math.ceil(length / 16)).slice(0, length);
          await store.set("key", text);
          assert(await other.get("key") === text, `${length} characters`);
        }
        const wide = "世".repeat(Math.floor(longest / 6));
        await store.set("key", wide);
        assert(await store.get("key") === wide);
      }),
    );

    test(
      "each key has its own text, whatever it looks like",
      { skip },
      inPlace(async ([store, other]) => {
        for (const [index, key] of awkwardKeys.entries()) {
          assertEquals(await store.get(key), undefined, JSON.stringify(key));
          await store.set(key, `text ${index}`);
        }
        for (const [index, key] of awkwardKeys.entries()) assertEquals(await other.get(key), `text ${index}`);
        for (const key of awkwardKeys) await store.delete(key);
        for (const key of awkwardKeys) assertEquals(await other.get(key), undefined);
      }),
    );

    test(
      "of writers at the same time one stays, whole",
      { skip },
      inPlace(async ([store, other]) => {
        const written = Array.from({ length: writers }, (_, index) => `${index} `.repeat(2_000));
        await Promise.all(written.map((text, index) => (index % 2 ? store : other).set("key", text)));
        const kept = await store.get("key");
        assert(kept !== undefined && written.includes(kept));
        assertEquals(await other.get("key"), kept);
      }),
    );
  });

  if (!compares) {
    test(
      `${name} does not claim to compare`,
      { skip },
      inPlace(async ([store]) => {
        assertEquals(await Promise.resolve(store.compareAndSet), undefined);
      }),
    );
    return;
  }
  comparing(name, writers, skip, inPlace);
}

type InPlace = (work: (stores: readonly [Store, Store]) => Promise<void>) => () => Promise<void>;

function comparing(name: string, writers: number, skip: string | false, inPlace: InPlace): void {
  describe(`${name}: comparing`, () => {
    test(
      "sets what is still as expected, and nothing else",
      { skip },
      inPlace(async ([store, other]) => {
        await store.set("key", "one");
        assertEquals(await compare(other, "key", "two", "three"), false);
        assertEquals(await compare(other, "key", "", "three"), false);
        assertEquals(await store.get("key"), "one");
        assertEquals(await compare(other, "key", "one", "two"), true);
        assertEquals(await store.get("key"), "two");
        assertEquals(await compare(store, "key", "two", "two"), true);
        assertEquals(await compare(store, "key", "two", ""), true);
        assertEquals(await compare(store, "key", "", "three"), true);
        assertEquals(await other.get("key"), "three");
      }),
    );

    test(
      "undefined is nothing: expected, and to be kept",
      { skip },
      inPlace(async ([store, other]) => {
        assertEquals(await compare(store, "key", "one", "two"), false);
        assertEquals(await compare(store, "key", "one", undefined), false);
        assertEquals(await compare(store, "key", undefined, undefined), true);
        assertEquals(await other.get("key"), undefined);
        assertEquals(await compare(store, "key", undefined, ""), true);
        assertEquals(await compare(other, "key", undefined, "two"), false);
        assertEquals(await other.get("key"), "");
        assertEquals(await compare(other, "key", "one", undefined), false);
        assertEquals(await compare(other, "key", "", undefined), true);
        assertEquals(await store.get("key"), undefined);
      }),
    );

    test(
      "works with each key",
      { skip },
      inPlace(async ([store]) => {
        for (const key of awkwardKeys) assertEquals(await compare(store, key, undefined, "one"), true);
        for (const key of awkwardKeys) assertEquals(await compare(store, key, "one", "two"), true);
        for (const key of awkwardKeys) assertEquals(await store.get(key), "two");
      }),
    );

    test(
      "exactly one of many wins",
      { skip },
      inPlace(async (stores) => {
        for (const expected of [undefined, "start"]) {
          if (expected !== undefined) await stores[0].set("key", expected);
          const tries = Array.from({ length: writers }, async (_, index) => {
            const store = stores[index % 2 ? 0 : 1];
            return await compare(store, "key", expected, `winner ${index}`) ? [`winner ${index}`] : [];
          });
          const winners = (await Promise.all(tries)).flat();
          assertEquals(winners.length, 1, winners.join());
          assertEquals(await stores[0].get("key"), winners[0]);
        }
      }),
    );

    test(
      "no step is lost when many count",
      { skip },
      inPlace(async (stores) => {
        await Promise.all(Array.from({ length: writers }, (_, index) => increment(stores[index % 2 ? 0 : 1], "count")));
        assertEquals(await stores[0].get("count"), String(writers));
      }),
    );

    test(
      "a comparison and a plain change do not mix",
      { skip },
      inPlace(async ([store, other]) => {
        for (let round = 0; round < 5; round++) {
          await store.set("key", "one");
          const [won] = await Promise.all([compare(store, "key", "one", "two"), other.set("key", "three")]);
          // Either order leaves the plain text; only the verdict differs.
          assertEquals([typeof won, await store.get("key")], ["boolean", "three"]);
        }
      }),
    );
  });
}

/** Compares with a store that can. */
export async function compare(
  store: Store,
  key: string,
  expected: string | undefined,
  value: string | undefined,
): Promise<boolean> {
  assert(store.compareAndSet, "the store cannot compare");
  return await store.compareAndSet(key, expected, value);
}
