/**
 * Texts in Workers KV.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { checkBinding, fitName } from "./names.ts";

/** The part of a KV namespace that is used. */
export interface KvNamespace {
  /** The text under a name, or null. */
  get(name: string): Promise<string | null>;
  /** Keeps a text. */
  put(name: string, value: string): Promise<void>;
  /** Forgets a name. */
  delete(name: string): Promise<void>;
}

/** Options of {@linkcode createKvStore}. */
export interface KvStoreOptions {
  /** What the names begin with (`causeway:`). At most 128 characters. */
  prefix?: string | undefined;
}

/** What KV allows, in bytes. */
const longestName = 512;

/**
 * Makes a `Store` of a Workers KV namespace.
 *
 * KV is eventually consistent: what was written may take a minute to be seen elsewhere, of two writers the last one wins, and
 * one name takes one write a second. So it cannot compare: it fits what is written seldom, such as credentials of clients, and
 * cannot keep two isolates from refreshing one token at the same time. A Durable Object can: `createStubStore`.
 *
 * @param namespace The binding.
 * @throws {TypeError} When there is no such binding.
 * @throws {RangeError} When the prefix is too long.
 *
 * @example Clients that were registered once
 * ```ts
 * import { createSealedStore } from "@causeway/mcp/auth";
 * import { createKvStore, type KvNamespace } from "@causeway/mcp/workers";
 *
 * const storeOf = (env: { CREDENTIALS: KvNamespace; STORE_KEY: string }) =>
 *   createSealedStore(createKvStore(env.CREDENTIALS), { keys: env.STORE_KEY });
 * console.assert(typeof storeOf === "function");
 * ```
 */
export function createKvStore(namespace: KvNamespace, options: KvStoreOptions = {}): Store {
  const { prefix = "causeway:" } = options;
  checkBinding("KV namespace", namespace);
  if (prefix.length > 128) throw new RangeError(`"prefix" has ${prefix.length} characters, expected at most 128`);
  const nameOf = (key: string): Promise<string> => fitName(prefix, key, longestName);
  return {
    async get(key) {
      return await namespace.get(await nameOf(key)) ?? undefined;
    },
    async set(key, value) {
      await namespace.put(await nameOf(key), value);
    },
    async delete(key) {
      await namespace.delete(await nameOf(key));
    },
  };
}
