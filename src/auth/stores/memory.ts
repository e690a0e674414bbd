/**
 * A store that forgets when the process ends.
 *
 * @module
 */
import type { Store } from "../../ports.ts";

/** Makes a store in memory. */
export function createMemoryStore(): Store {
  const texts = new Map<string, string>();
  return {
    get: (key) => Promise.resolve(texts.get(key)),
    set: (key, value) => Promise.resolve(void texts.set(key, value)),
    delete: (key) => Promise.resolve(void texts.delete(key)),
    compareAndSet: (key, expected, value) => {
      if (texts.get(key) !== expected) return Promise.resolve(false);
      if (value === undefined) texts.delete(key);
      else texts.set(key, value);
      return Promise.resolve(true);
    },
  };
}
