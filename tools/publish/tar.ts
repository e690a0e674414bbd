/** Reads and writes the gzipped archives that registries are given and give. */
import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";

const blockSize = 512;

/** The regular files of an archive: path without a leading slash, and bytes. */
export function readArchive(archive: Uint8Array): Map<string, Uint8Array> {
  const bytes = new Uint8Array(gunzipSync(archive));
  const files = new Map<string, Uint8Array>();
  let longName: string | undefined;
  for (let at = 0; at + blockSize <= bytes.length;) {
    const header = bytes.subarray(at, at + blockSize);
    const size = Number.parseInt(text(header, 124, 12), 8) || 0;
    const content = bytes.subarray(at + blockSize, at + blockSize + size);
    const kind = text(header, 156, 1);
    const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
    const name = longName ?? (prefix === "" ? text(header, 0, 100) : `${prefix}/${text(header, 0, 100)}`);
    // "L": the content is the name of the next entry, which is too long for a header.
    longName = kind === "L" ? text(content, 0, size) : undefined;
    if ((kind === "0" || kind === "") && name !== "") files.set(name.replace(/^(\.?\/)+/, ""), content);
    at += blockSize + Math.ceil(size / blockSize) * blockSize;
  }
  return files;
}

/**
 * An archive of files, as npm wants it: all of them in a folder `package`.
 *
 * @throws {RangeError} When a path is too long for a header.
 */
export function writeArchive(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const blocks: Uint8Array[] = [];
  for (const [path, content] of files) {
    blocks.push(header(`package/${path}`, content.byteLength), content);
    blocks.push(new Uint8Array((blockSize - content.byteLength % blockSize) % blockSize));
  }
  blocks.push(new Uint8Array(2 * blockSize));
  return new Uint8Array(gzipSync(Buffer.concat(blocks), { level: 1 }));
}

function header(path: string, size: number): Uint8Array {
  const block = new Uint8Array(blockSize);
  const put = (value: string, at: number): void => void block.set(new TextEncoder().encode(value), at);
  const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, "0")}\0`;
  const [prefix, name] = splitPath(path);
  put(name, 0);
  put(octal(0o644, 7), 100);
  put(octal(0, 7) + octal(0, 7) + octal(size, 11) + octal(0, 11), 108);
  put("        0", 148);
  put("ustar\u000000", 257);
  put(prefix, 345);
  put(`${block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

/** A path of more than 100 bytes is cut at a slash. */
function splitPath(path: string): [string, string] {
  if (path.length <= 100) return ["", path];
  const at = path.indexOf("/", path.length - 101);
  if (at < 0 || at > 155) throw new RangeError(`The path ${JSON.stringify(path)} is too long for an archive`);
  return [path.slice(0, at), path.slice(at + 1)];
}

/** The text of a field, up to its first zero byte. */
function text(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end)).trim();
}
