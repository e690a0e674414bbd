/**
 * Seals what a client carries between rounds: encrypted, bound and short-lived (specification 2026-07-28: multi
 * round-trip requests, requestState).
 *
 * @module
 */
import { isObject } from "../protocol/json_rpc.ts";
import type { JsonObject } from "../protocol/json_rpc.ts";
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
const defaultTtl = 600_000;
const leastSecret = 16;
const nonceLength = 12;

/**
 * Makes a sealer (AES-256-GCM; the key by HKDF-SHA-256). Nothing is computed before the first use.
 *
 * @throws {RangeError} When the secret is shorter than 16 bytes, or `ttl` is no positive number.
 */
export function createStateSealer(options: StateSealerOptions = {}): StateSealer {
  const { secret, ttl = defaultTtl, clock = systemClock, random = systemRandom } = options;
  const bytes = typeof secret === "string" ? encode(secret) : secret;
  if (bytes && bytes.length < leastSecret) {
    throw new RangeError(`"secret" has ${bytes.length} bytes: expected at least ${leastSecret}`);
  }
  if (!(ttl > 0 && Number.isFinite(ttl))) throw new RangeError(`"ttl" is ${ttl}: expected a positive number`);
  return new GcmSealer(clock, random, bytes && new Uint8Array(bytes), ttl);
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
    const nonce = new Uint8Array(this.#random.bytes(nonceLength));
    const plain = encode(JSON.stringify({ until: this.#clock.now() + this.#ttl, state }));
    const sealed = await crypto.subtle.encrypt(algorithm(nonce, bound), await this.#keyed(), plain);
    const bytes = new Uint8Array(nonceLength + sealed.byteLength);
    bytes.set(nonce);
    bytes.set(new Uint8Array(sealed), nonceLength);
    return toText(bytes);
  }

  async open(sealed: string, bound: string): Promise<JsonObject | undefined> {
    const bytes = fromText(sealed);
    if (!bytes || bytes.length <= nonceLength) return undefined;
    const key = await this.#keyed();
    try {
      const nonce = bytes.slice(0, nonceLength);
      const plain = await crypto.subtle.decrypt(algorithm(nonce, bound), key, bytes.slice(nonceLength));
      const { until, state }: Record<string, unknown> = JSON.parse(new TextDecoder().decode(plain));
      const good = typeof until === "number" && this.#clock.now() < until && isObject(state);
      return good ? state as JsonObject : undefined;
    } catch {
      // Not ours, changed, or bound to something else: the cipher does not say which.
      return undefined;
    }
  }

  /** Callers at the same time make the same key, each for itself: an isolate must not wait across requests. */
  async #keyed(): Promise<CryptoKey> {
    if (this.#key) return this.#key;
    this.#secret ??= new Uint8Array(this.#random.bytes(32));
    const base = await crypto.subtle.importKey("raw", this.#secret, "HKDF", false, ["deriveKey"]);
    const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: encode(purpose) };
    const usages: KeyUsage[] = ["encrypt", "decrypt"];
    this.#key = await crypto.subtle.deriveKey(derivation, base, { name: "AES-GCM", length: 256 }, false, usages);
    return this.#key;
  }
}

function algorithm(nonce: Uint8Array<ArrayBuffer>, bound: string): AesGcmParams {
  return { name: "AES-GCM", iv: nonce, additionalData: encode(bound) };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Base64url without padding. */
function toText(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Takes exactly what {@linkcode toText} gives: there is one text for each state. */
function fromText(text: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== "string" || !/^[\w-]+$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.from(
      atob(text.replaceAll("-", "+").replaceAll("_", "/")),
      (character) => character.charCodeAt(0),
    );
    return toText(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
