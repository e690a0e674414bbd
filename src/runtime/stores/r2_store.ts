/**
 * Texts in Workers R2.
 *
 * @module
 */
import type { Store } from "../../ports.ts";
import { checkBinding, fitName } from "./names.ts";

/** The part of an R2 bucket that is used. */
export interface R2Bucket {
  /** What is under a name, or null. */
  get(name: string): Promise<{ text(): Promise<string> } | null>;
  /** Keeps a text. */
  put(name: string, value: string): Promise<unknown>;
  /** Forgets names. */
  delete(names: string | string[]): Promise<void>;
  /** Names that begin alike, in pages. */
  list(
    options: { prefix: string; limit?: number },
  ): Promise<{ readonly objects: readonly { readonly key: string }[]; readonly truncated: boolean }>;
}

/** Options of {@linkcode createR2Store}. */
export interface R2StoreOptions {
  /** What the names begin with (`causeway:`). At most 256 characters. */
  prefix?: string | undefined;
}

/** What R2 allows, in bytes. */
const longestName = 1_024;
/** How many names one deletion takes. */
const atOnce = 1_000;

/** A `Store` over a bucket that can also be emptied. */
export interface R2Store extends Store {
  /** Forgets all that is kept under its prefix. */
  clear(): Promise<void>;
}

/**
 * Makes a `Store` of a Workers R2 bucket: for texts that are large, such as whole results of tools (`withResultBudget`). What was
 * written is seen at once, everywhere. It cannot compare.
 *
 * What nobody deletes stays: give the bucket a lifecycle rule for the prefix, a little longer than what is kept there is wanted.
 *
 * @param bucket The binding.
 * @throws {TypeError} When there is no such binding.
 * @throws {RangeError} When the prefix is too long.
 *
 * @example Large results
 * ```ts
 * import { withResultBudget } from "@causeway/mcp/hub";
 * import { createR2Store, type HubLike, type R2Bucket } from "@causeway/mcp/workers";
 *
 * const bounded = (hub: HubLike, env: { RESULTS: R2Bucket }) =>
 *   withResultBudget(hub, { store: createR2Store(env.RESULTS), chunkSize: 1_000_000 });
 * console.assert(typeof bounded === "function");
 * ```
 */
export function createR2Store(bucket: R2Bucket, options: R2StoreOptions = {}): R2Store {
  const { prefix = "causeway:" } = options;
  checkBinding("R2 bucket", bucket);
  if (prefix.length > 256) throw new RangeError(`"prefix" has ${prefix.length} characters, expected at most 256`);
  const nameOf = (key: string): Promise<string> => fitName(prefix, key, longestName);
  return {
    async get(key) {
      const found = await bucket.get(await nameOf(key));
      return await found?.text();
    },
    async set(key, value) {
      await bucket.put(await nameOf(key), value);
    },
    async delete(key) {
      await bucket.delete(await nameOf(key));
    },
    async clear() {
      for (;;) {
        const { objects, truncated } = await bucket.list({ prefix, limit: atOnce });
        if (objects.length) await bucket.delete(objects.map(({ key }) => key));
        // What was deleted is not listed again.
        if (!truncated) return;
      }
    },
  };
}
