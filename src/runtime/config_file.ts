/**
 * Reads small files that people write, on Bun, Deno and Node.
 *
 * @module
 */
import { lstat, open, stat } from "node:fs/promises";
import { isObject } from "../protocol/json_rpc.ts";

/** A file that was read. */
export interface ConfigFile {
  readonly text: string;
  /** The users whose it is, as the system numbers them: the file's, and that of a link to it. */
  readonly owners: readonly number[];
}

/**
 * The text of a file; undefined when there is none. Only files are read: what is a pipe or a device does not hold one up.
 *
 * @param maxBytes How large it may be.
 * @throws {Error} When it is there and cannot be read, is larger, or is no UTF-8. Its message says which, without the path.
 */
export async function readConfigFile(path: string, maxBytes: number): Promise<string | undefined> {
  return (await readOwnedFile(path, maxBytes))?.text;
}

/**
 * The same, with whose it is.
 *
 * @throws {Error} As {@linkcode readConfigFile}.
 */
export async function readOwnedFile(path: string, maxBytes: number): Promise<ConfigFile | undefined> {
  try {
    const { size } = await checkedFile(path);
    if (size > maxBytes) throw new Refusal(`it has more than ${maxBytes} bytes`);
    const { uid } = await lstat(path);
    const { bytes, owner } = await readBytes(path, maxBytes);
    return { text: decode(bytes), owners: [uid, owner] };
  } catch (error) {
    const code = isObject(error) ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (error instanceof Refusal) throw error;
    if (code === "EACCES" || code === "EPERM") throw new Refusal("you may not read it: check its permissions");
    throw new Refusal(typeof code === "string" ? code : error instanceof Error ? error.message : String(error));
  }
}

class Refusal extends Error {}

async function checkedFile(path: string): Promise<{ size: number }> {
  const found = await stat(path);
  if (!found.isFile()) throw new Refusal(found.isDirectory() ? "it is a folder" : "it is no file");
  return found;
}

async function readBytes(path: string, maxBytes: number): Promise<{ bytes: Uint8Array; owner: number }> {
  const file = await open(path);
  try {
    const bytes = new Uint8Array(maxBytes + 1);
    let length = 0;
    for (let more = -1; more !== 0 && length < bytes.length;) {
      more = (await file.read(bytes, length, bytes.length - length)).bytesRead;
      length += more;
    }
    // It may have grown meanwhile.
    if (length > maxBytes) throw new Refusal(`it has more than ${maxBytes} bytes`);
    // Of what was read, whatever has its name by now.
    const { uid: owner } = await file.stat();
    return { bytes: bytes.subarray(0, length), owner };
  } finally {
    await file.close();
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal("it is no UTF-8: save it as such");
  }
}
