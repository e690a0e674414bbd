/**
 * Seals what a client carries between rounds: encrypted, bound and short-lived (specification 2026-07-28: multi
 * round-trip requests, requestState).
 *
 * @module
 */
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
import { deriveSealingKey, openText, sealText } from "../protocol/web_crypto.ts";
import { systemClock, systemRandom } from "../ports.ts";
import type { Clock, Random } from "../ports.ts";
import type { StateSealer } from "./seam.ts";

/** What a sealer works with. */
export interface StateSealerOptions {
  /**
   * What the key is made of: at least 16 bytes, hard to guess. Instances that share it open each other's states.
   * Default: a random key, good for this sealer alone and gone with it.
   */
  secret?: string | Uint8Array | undefined;
  /** How long a state is good, in milliseconds (600,000: ten minutes). */
  ttl?: number | undefined;
  /** Dates the states. Default: the runtime's time. */
  clock?: Clock | undefined;
  /** Makes the nonces, and the key where no secret is given. Default: the runtime's. */
  random?: Random | undefined;
}

const purpose = "causeway request state 1";

/**
 * Makes a sealer (AES-256-GCM; the key by HKDF-SHA-256). Nothing is computed before the first use.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes, or `ttl` is no positive number.
 */
export function createStateSealer(options: StateSealerOptions = {}): StateSealer {
  const leastSecret = 16;
  const { secret, ttl = 600_000, clock = systemClock, random = systemRandom } = options;
  // What is neither text nor bytes (a number, a CryptoKey) has none: the key would be one that anybody can guess.
  const bytes = typeof secret === "string"
    ? new TextEncoder().encode(secret)
    : secret && new Uint8Array(Object(secret));
  if (bytes && bytes.length < leastSecret) {
    throw new RangeError(`"secret" has ${bytes.length} bytes: expected at least ${leastSecret}`);
  }
  if (!(ttl > 0 && Number.isFinite(ttl))) throw new RangeError(`"ttl" is ${ttl}: expected a positive number`);
  return new GcmSealer(clock, random, bytes, ttl);
}

class GcmSealer implements StateSealer {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #ttl: number;
  #secret: Uint8Array<ArrayBuffer> | undefined;
  #key: CryptoKey | undefined;

  constructor(clock: Clock, random: Random, secret: Uint8Array<ArrayBuffer> | undefined, ttl: number) {
    this.#clock = clock;
    this.#random = random;
    this.#secret = secret;
    this.#ttl = ttl;
  }

  async seal(state: JsonObject, bound: string): Promise<string> {
    const plain = JSON.stringify({ until: this.#clock.now() + this.#ttl, state });
    return await sealText(await this.#keyed(), this.#random.bytes(12), plain, bound);
  }

  async open(sealed: string, bound: string): Promise<JsonObject | undefined> {
    const plain = await openText(await this.#keyed(), sealed, bound);
    if (plain === undefined) return undefined;
    const { until, state }: Record<string, unknown> = JSON.parse(plain);
    const good = typeof until === "number" && this.#clock.now() < until && isObject(state);
    return good ? state as JsonObject : undefined;
  }

  /** Callers at the same time make the same key, each for itself: an isolate must not wait across requests. */
  async #keyed(): Promise<CryptoKey> {
    this.#secret ??= new Uint8Array(this.#random.bytes(32));
    return this.#key ??= await deriveSealingKey(this.#secret, purpose);
  }
}
