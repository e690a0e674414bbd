/**
 * Digests and sealed texts, by WebCrypto.
 *
 * @module
 */
import { toHex } from "../ports.ts";

const nonceLength = 12;
// It keeps nothing between two calls.
const utf8 = new TextEncoder();

/** The SHA-256 of a text (in UTF-8) or of bytes, in hexadecimal digits. */
export function sha256(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === "string" ? encode(data) : data;
  return crypto.subtle.digest("SHA-256", bytes).then((digest) => toHex(new Uint8Array(digest)));
}

/** Makes a key for AES-256-GCM of a secret, good for one purpose (HKDF-SHA-256). */
export async function deriveSealingKey(secret: Uint8Array<ArrayBuffer>, purpose: string): Promise<CryptoKey> {
  const base = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveKey"]);
  const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info: encode(purpose) };
  const usages: ("encrypt" | "decrypt")[] = ["encrypt", "decrypt"];
  return await crypto.subtle.deriveKey(derivation, base, { name: "AES-GCM", length: 256 }, false, usages);
}

/**
 * Seals a text: base64url of the nonce and what AES-GCM makes.
 *
 * @param nonce 12 bytes that were never used with this key.
 * @param bound What the text belongs to: it opens with that alone.
 */
export async function sealText(key: CryptoKey, nonce: Uint8Array, text: string, bound: string): Promise<string> {
  const iv = new Uint8Array(nonce);
  const sealed = await crypto.subtle.encrypt(algorithm(iv, bound), key, encode(text));
  const bytes = new Uint8Array(nonceLength + sealed.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(sealed), nonceLength);
  return toText(bytes);
}

/** Opens what {@linkcode sealText} made. Undefined: it is not ours, was changed, or belongs to something else. */
export async function openText(key: CryptoKey, sealed: string, bound: string): Promise<string | undefined> {
  const bytes = fromText(sealed);
  if (!bytes || bytes.length <= nonceLength) return undefined;
  try {
    const nonce = bytes.slice(0, nonceLength);
    return new TextDecoder().decode(
      await crypto.subtle.decrypt(algorithm(nonce, bound), key, bytes.slice(nonceLength)),
    );
  } catch {
    // The cipher does not say which.
    return undefined;
  }
}

function algorithm(
  nonce: Uint8Array<ArrayBuffer>,
  bound: string,
): Record<"iv" | "additionalData", Uint8Array<ArrayBuffer>> & { name: string } {
  return { name: "AES-GCM", iv: nonce, additionalData: encode(bound) };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return utf8.encode(text);
}

/** Base64url without padding. */
function toText(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Takes exactly what {@linkcode toText} gives: there is one text for each sealed text. */
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
