/**
 * Encryption that answers at once, by `node:crypto`: Bun, Deno and Node have it, Workers with the flag `nodejs_compat`.
 *
 * @module
 */
import type { SqlCipher } from "../../ports.ts";

const lengths = { nonce: 12, tag: 16 } as const;
const algorithm = "aes-256-gcm";

/** The part of `node:crypto` that is used. */
interface NodeCrypto {
  hkdfSync(digest: string, secret: Uint8Array, salt: Uint8Array, purpose: string, length: number): ArrayBuffer;
  createCipheriv(name: string, key: Uint8Array, nonce: Uint8Array, options: { authTagLength: number }): Sealing;
  createDecipheriv(name: string, key: Uint8Array, nonce: Uint8Array, options: { authTagLength: number }): Opening;
}

interface Sealing {
  setAAD(bound: Uint8Array): unknown;
  update(plain: Uint8Array): Uint8Array;
  final(): Uint8Array;
  getAuthTag(): Uint8Array;
}

interface Opening {
  setAAD(bound: Uint8Array): unknown;
  setAuthTag(tag: Uint8Array): unknown;
  update(sealed: Uint8Array): Uint8Array;
  final(): Uint8Array;
}

/** The cipher of this runtime; undefined in a Worker without `nodejs_compat`. */
export function findCipher(): SqlCipher | undefined {
  // Not imported: a Worker without the flag would not even start.
  const { process }: { process?: { getBuiltinModule?(name: string): unknown } } = globalThis;
  const found = process?.getBuiltinModule?.("node:crypto");
  return found === undefined ? undefined : new NodeCipher(found as NodeCrypto);
}

class NodeCipher implements SqlCipher {
  readonly #crypto: NodeCrypto;

  constructor(crypto: NodeCrypto) {
    this.#crypto = crypto;
  }

  derive(secret: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array {
    return new Uint8Array(this.#crypto.hkdfSync("sha256", secret, salt, purpose, 32));
  }

  seal(key: Uint8Array, nonce: Uint8Array, { plain, bound }: { plain: Uint8Array; bound: string }): Uint8Array {
    const cipher = this.#crypto.createCipheriv(algorithm, key, nonce, { authTagLength: lengths.tag });
    cipher.setAAD(encode(bound));
    const parts = [nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()];
    const sealed = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      sealed.set(part, at);
      at += part.length;
    }
    return sealed;
  }

  open(key: Uint8Array, sealed: Uint8Array, bound: string): Uint8Array | undefined {
    const end = sealed.length - lengths.tag;
    if (end < lengths.nonce) return undefined;
    const nonce = sealed.subarray(0, lengths.nonce);
    const decipher = this.#crypto.createDecipheriv(algorithm, key, nonce, { authTagLength: lengths.tag });
    decipher.setAAD(encode(bound));
    decipher.setAuthTag(sealed.subarray(end));
    const plain = decipher.update(sealed.subarray(lengths.nonce, end));
    try {
      // GCM gives all at once: what `final` adds is its verdict.
      decipher.final();
      return plain;
    } catch {
      return undefined;
    }
  }
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
