/**
 * Compressed bodies that swell: written by hand, so that no host has to compress anything.
 *
 * @module
 */

/** A deflate stream without an end: `prefix`, then one space over and over (158 bytes out of one). */
export function endlessDeflate(prefix: string): { head: Uint8Array; unit: Uint8Array } {
  const stored = new TextEncoder().encode(prefix);
  const low = stored.length & 0xff;
  const high = stored.length >> 8;
  const bits = [0, 1, 0]; // not the last block, fixed codes
  pushCode(bits, 0x30 + 0x20, 8); // the literal " "
  for (let match = 0; match < 16; match++) {
    pushCode(bits, 0b11000101, 8); // length 258
    pushCode(bits, 0, 5); // distance 1
  }
  const packed = pack(bits);
  // Eight matches are 13 bytes, so that from the third byte on the stream repeats itself.
  const head = new Uint8Array([0, low, high, ~low & 0xff, ~high & 0xff, ...stored, ...packed.slice(0, 2)]);
  return { head, unit: packed.slice(2, 15) };
}

/** The first bytes of a gzip stream. */
export const gzipHeader: readonly number[] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/** The first bytes of a zlib stream: what HTTP calls `deflate`. */
export const zlibHeader: readonly number[] = [0x78, 0x9c];

/** 256 MiB of spaces, brotli (made with `zlib.brotliCompressSync`, window 2²⁴, quality 5). */
export function brotliBomb(): Uint8Array<ArrayBuffer> {
  const text =
    "z///fwAkQOKxQHLv//n//w+ABEAcFoDu/T////8BkACIwwLQvf/n//8/ABIAcVgAuvf//P//B0ACIA4LQPf+n////wBIAMRhAeje//P/" +
    "/x8ACYA4LADd+3/+//8DIAEQhwWge//P//9/ACQA4rAAdO//+f//D4AEQBwWgO79P////wGQAIjDAtC9/+f//z8AEgBxWAC69//8//8HQAIg" +
    "DgtA9/6f////AEgAxGEB6N7/8///HwAJgDgsAN37//z//wcgARCHBaB7/w8=";
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Codes are written from their highest bit on. */
function pushCode(bits: number[], code: number, length: number): void {
  for (let bit = length - 1; bit >= 0; bit--) bits.push((code >> bit) & 1);
}

/** Bytes are filled from their lowest bit on. */
function pack(bits: number[]): Uint8Array {
  const bytes = new Uint8Array(Math.floor(bits.length / 8));
  for (let index = 0; index < bytes.length * 8; index++) {
    bytes[index >> 3] = (bytes[index >> 3] ?? 0) | ((bits[index] ?? 0) << (index & 7));
  }
  return bytes;
}
