/**
 * API keys: long, unguessable, and kept as hashes.
 *
 * @module
 */
import { randomHex, systemRandom } from "../../ports.ts";
import type { Random, Store } from "../../ports.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { sha256 } from "../../protocol/web_crypto.ts";

const prefix = "causeway_";
const form = /^causeway_[0-9a-f]{64}$/;
const hashForm = /^[0-9a-f]{64}$/;

/** Whom an API key stands for. */
export interface ApiKeyRecord {
  /** The id of the principal. */
  readonly principal: string;
  /** Whose principal it is. */
  readonly tenant: string;
  /** What the key allows, by name: for rules with a `scope` (nothing). */
  readonly scopes?: readonly string[] | undefined;
  /** When it ends, in milliseconds since 1970 (never). */
  readonly expiresAt?: number | undefined;
}

/** Finds whom a key stands for by its hash. When it throws, nobody is let in. */
export interface KeyStore {
  /** The record of a key's hash; undefined when there is none. */
  find(hash: string): ApiKeyRecord | undefined | Promise<ApiKeyRecord | undefined>;
}

/** A key that was made: the text is given to its holder, the hash is kept. */
export interface NewApiKey {
  /** What the holder sends as bearer. Secret; it cannot be found again from the hash. */
  readonly key: string;
  /** Its SHA-256, in hexadecimal digits. */
  readonly hash: string;
}

/**
 * Makes an API key: `causeway_` and 64 hexadecimal digits, of 32 random bytes.
 *
 * @param random Chance (the system's).
 *
 * @example A key and what is kept of it
 * ```ts
 * import { createApiKey, createKeyList } from "@causeway/mcp/runner";
 *
 * const { key, hash } = await createApiKey();
 * const keys = createKeyList([{ hash, principal: "ada", tenant: "acme" }]);
 * console.assert(key.startsWith("causeway_") && (await keys.find(hash))?.principal === "ada");
 * ```
 */
export async function createApiKey(random: Random = systemRandom): Promise<NewApiKey> {
  const key = prefix + randomHex(random, 32);
  return { key, hash: await sha256(key) };
}

/** Whether a bearer looks like one of our keys: all else is a token of somebody else's. */
export function isApiKey(text: string): boolean {
  return text.startsWith(prefix);
}

/** The hash of a key; undefined when the text is none. */
export async function hashApiKey(key: string): Promise<string | undefined> {
  return form.test(key) ? await sha256(key) : undefined;
}

/**
 * Keys that stand in a config. Each is compared in the same time, whichever it is.
 *
 * @throws {TypeError} When an entry has no sound hash, principal or tenant.
 */
export function createKeyList(entries: readonly (ApiKeyRecord & { readonly hash: string })[]): KeyStore {
  for (const [at, { hash, ...record }] of entries.entries()) {
    if (!hashForm.test(hash)) {
      throw new TypeError(`Cannot use the key ${at}: "hash" is no SHA-256 in 64 hexadecimal digits`);
    }
    checkRecord(record, `the key ${at}`);
  }
  const kept = entries.map(({ hash, ...record }) => ({ hash, record }));
  return {
    find(wanted) {
      let found: ApiKeyRecord | undefined;
      for (const { hash, record } of kept) if (isSameText(hash, wanted)) found = record;
      return found;
    },
  };
}

/** Keys in a store, so that they can be added and withdrawn while the runner is at work. */
export interface StoredKeys extends KeyStore {
  /** Keeps whom a key stands for. */
  add(hash: string, record: ApiKeyRecord): Promise<void>;
  /** Withdraws a key. */
  remove(hash: string): Promise<void>;
}

/**
 * Keeps keys in a store, under their hashes.
 *
 * @param store A place of their own: keys begin with `key/`.
 */
export function createKeyStore(store: Store): StoredKeys {
  const place = (hash: string): string => {
    if (!hashForm.test(hash)) throw new TypeError("Cannot use the hash of a key: expected 64 hexadecimal digits");
    return `key/${hash}`;
  };
  return {
    async find(hash) {
      // Many a store says null.
      const text = await store.get(place(hash)) ?? undefined;
      if (text === undefined) return undefined;
      const record: unknown = JSON.parse(text);
      checkRecord(record, "a stored key");
      return record;
    },
    async add(hash, record) {
      checkRecord(record, "the key");
      await store.set(place(hash), JSON.stringify(record));
    },
    async remove(hash) {
      await store.delete(place(hash));
    },
  };
}

/** Compares two texts in a time that does not tell where they differ. */
export function isSameText(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

function checkRecord(record: unknown, what: string): asserts record is ApiKeyRecord {
  const { principal, tenant, scopes, expiresAt } = isObject(record) ? record : {};
  const isSound = typeof principal === "string" && principal !== "" && typeof tenant === "string" && tenant !== "" &&
    (scopes === undefined || isTexts(scopes)) && (expiresAt === undefined || Number.isFinite(expiresAt));
  if (isSound) return;
  throw new TypeError(`Cannot use ${what}: expected "principal" and "tenant" as texts, "scopes" as a list of texts`);
}
