/**
 * Texts in memory.
 *
 * @module
 */
import type { Store } from "../../ports.ts";

/** Options of {@linkcode createMemoryStore}. */
export interface MemoryStoreOptions {
  /** How many texts are kept: with one more, the one that was not written for the longest time is forgotten. Default: any number. */
  most?: number | undefined;
}

/**
 * Keeps texts in memory: they end with the process, and each process and isolate has its own.
 *
 * @throws {RangeError} When `most` is no whole number above 0.
 *
 * @example A store for tests
 * ```ts
 * import { createMemoryStore } from "@causeway/mcp/auth";
 *
 * const store = createMemoryStore();
 * await store.set("greeting", "hello");
 * if (!await store.compareAndSet("greeting", "hello", "goodbye")) throw new Error("somebody else was faster");
 * ```
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Required<Store> {
  const { most = Infinity } = options;
  if (most !== Infinity && !(Number.isSafeInteger(most) && most > 0)) {
    throw new RangeError(`"most" is ${most}, expected a whole number above 0`);
  }
  const texts = new Map<string, string>();
  const keep = (key: string, value: string | undefined): void => {
    texts.delete(key);
    if (value === undefined) return;
    texts.set(key, value);
    // Only then: what was written anew has left gaps in front of the oldest, and each look at that one goes through them.
    if (texts.size > most) texts.delete(texts.keys().next().value as string);
  };
  return {
    get: (key) => Promise.resolve(texts.get(key)),
    set: (key, value) => Promise.resolve(keep(key, value)),
    delete: (key) => Promise.resolve(keep(key, undefined)),
    compareAndSet(key, expected, value) {
      const isSame = texts.get(key) === expected;
      if (isSame) keep(key, value);
      return Promise.resolve(isSame);
    },
  };
}
