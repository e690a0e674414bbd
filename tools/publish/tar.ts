/** Reads the gzipped archive that `deno publish` sends. */
import { gunzipSync } from "node:zlib";

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

/** The text of a field, up to its first zero byte. */
function text(bytes: Uint8Array, start: number, length: number): string {
  const field = bytes.subarray(start, start + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end)).trim();
}
