/**
 * Texts that only who has the key can read, in any store.
 *
 * @module
 */
import { systemRandom } from "../../ports.ts";
import type { Random, Store } from "../../ports.ts";
import { AuthorizationError, OverloadedError } from "../../protocol/errors.ts";
import { deriveSealingKey, openText, sealText } from "../../protocol/web_crypto.ts";

/** Options of {@linkcode createSealedStore}. */
export interface SealedStoreOptions {
  /**
   * One key or several, each of at least 32 bytes that nobody can guess, as bytes or in base64 (`openssl rand -base64 32`). The
   * first one seals, all of them open: to change keys, put the new one in front, and drop the old one when every row was
   * written anew.
   */
  keys: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Whose rows they are (""): each tenant has a key of its own, and opens no row of another one. */
  tenant?: string | undefined;
  /** Makes the nonces. Default: the runtime's. */
  random?: Random | undefined;
}

const leastBytes = 32;
/** How often a comparison begins again because a row was sealed anew in between. */
const mostRounds = 100;
/** What sealed texts begin with: the way in which they are sealed. */
const version = "s1.";

/**
 * Wraps a store, so that what it keeps is sealed (AES-256-GCM, a key for each tenant by HKDF-SHA-256, a fresh nonce each time).
 * A text opens under the key that it was kept under alone, and for its tenant alone. Keys of rows are passed on as they are,
 * and lengths of texts can be seen.
 *
 * Who can write to the store can still put an older text of the same row in its place, or remove it.
 *
 * @param store Where the sealed texts are kept. Without `compareAndSet` the wrapped store has none either.
 * @returns A store. It rejects with an `AuthorizationError` when a text does not open: it was sealed with another key, moved
 * or changed. Such a row can be replaced and deleted.
 * @throws {TypeError} When there is no key, or one is too short or no base64.
 *
 * @example Sealed texts, and a new key
 * ```ts
 * import { createMemoryStore, createSealedStore } from "@causeway/mcp/auth";
 *
 * const old = crypto.getRandomValues(new Uint8Array(32));
 * const fresh = crypto.getRandomValues(new Uint8Array(32));
 * const inner = createMemoryStore();
 * await createSealedStore(inner, { keys: old }).set("row", "secret");
 * const store = createSealedStore(inner, { keys: [fresh, old] });
 * if (await store.get("row") !== "secret") throw new Error("it does not open");
 * ```
 */
export function createSealedStore(store: Required<Store>, options: SealedStoreOptions): Required<Store>;
/** The same over a store that may not be able to compare: then neither can this one. */
export function createSealedStore(store: Store, options: SealedStoreOptions): Store;
export function createSealedStore(store: Store, options: SealedStoreOptions): Store {
  const { keys, tenant = "", random = systemRandom } = options;
  const sealer = new Sealer(readKeys(keys), tenant, random);
  const sealed: Store = {
    async get(key) {
      return await sealer.open(key, await store.get(key));
    },
    async set(key, value) {
      await store.set(key, await sealer.seal(key, value));
    },
    delete: (key) => store.delete(key),
  };
  if (!store.compareAndSet) return sealed;
  return {
    ...sealed,
    async compareAndSet(key, expected, value) {
      const next = value === undefined ? undefined : await sealer.seal(key, value);
      for (let round = 0; round < mostRounds; round++) {
        // Many a store says null.
        const kept = await store.get(key) ?? undefined;
        if (await sealer.open(key, kept) !== expected) return false;
        if (await store.compareAndSet?.(key, kept, next)) return true;
      }
      const message = `Cannot compare a row of the store: it was written anew ${mostRounds} times meanwhile`;
      throw new OverloadedError(message, { retryable: true });
    },
  };
}

class Sealer {
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  readonly #tenant: string;
  readonly #random: Random;
  readonly #keys: CryptoKey[] = [];

  constructor(secrets: readonly Uint8Array<ArrayBuffer>[], tenant: string, random: Random) {
    this.#secrets = secrets;
    this.#tenant = tenant;
    this.#random = random;
  }

  async seal(row: string, value: string): Promise<string> {
    // As JSON it comes back letter by letter, also what is no proper Unicode.
    return version +
      await sealText(await this.#key(0), this.#random.bytes(12), JSON.stringify(value), this.#bound(row));
  }

  async open(row: string, sealed: string | null | undefined): Promise<string | undefined> {
    if (sealed === undefined || sealed === null) return undefined;
    if (sealed.startsWith(version)) {
      for (let index = 0; index < this.#secrets.length; index++) {
        const plain = await openText(await this.#key(index), sealed.slice(version.length), this.#bound(row));
        if (plain !== undefined) return String(JSON.parse(plain));
      }
    }
    const expected = "expected one that was sealed for this row and tenant with one of the keys, and not changed";
    throw new AuthorizationError(`Cannot open a row of the store: ${expected}`, { delivery: "not-sent" });
  }

  #bound(row: string): string {
    return JSON.stringify([version, this.#tenant, row]);
  }

  /** Callers at the same time make the same key, each for itself: an isolate must not wait across requests. */
  async #key(index: number): Promise<CryptoKey> {
    const secret = this.#secrets[index] ?? new Uint8Array(0);
    return this.#keys[index] ??= await deriveSealingKey(
      secret,
      JSON.stringify(["causeway sealed store 1", this.#tenant]),
    );
  }
}

function readKeys(keys: SealedStoreOptions["keys"]): Uint8Array<ArrayBuffer>[] {
  const list = typeof keys === "string" || keys instanceof Uint8Array ? [keys] : Array.isArray(keys) ? keys : [];
  if (list.length === 0) throw new TypeError('"keys" has no key, expected one or several');
  return list.map((key: unknown, index) => {
    const bytes = typeof key === "string"
      ? fromBase64(key)
      : key instanceof Uint8Array
      ? new Uint8Array(key)
      : undefined;
    if (!bytes) throw new TypeError(`Cannot use key ${index + 1} of "keys": expected bytes, or base64`);
    if (bytes.length >= leastBytes) return bytes;
    throw new TypeError(`Key ${index + 1} of "keys" has ${bytes.length} bytes: expected at least ${leastBytes}`);
  });
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w+/-]+={0,2}$/.test(text)) return undefined;
  try {
    const binary = atob(text.replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
