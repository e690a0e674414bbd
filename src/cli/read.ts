/**
 * Files as people write them.
 *
 * @module
 */
import { constants } from "node:fs";
import { access, lstat, open, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { isAbsolute } from "node:path";
import process from "node:process";
import { randomHex, systemRandom } from "../ports.ts";
import { codeOf } from "../runtime/stores/file_access.ts";
import { goneFolder, OutputError, UsageError } from "./failure.ts";

/** The most that is read of a file or of the standard input, in bytes. */
export const mostInput: number = 16 * 2 ** 20;

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not do that",
  EPERM: "this user may not do that",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of this user is used up",
  EFBIG: "a file may not be so large here",
  ENAMETOOLONG: "the path is too long",
  EEXIST: "there is a file of this name",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of the path is a file",
  ENOENT: "its folder is not there",
};

/**
 * Sees that the folder of the command can be written to by its name, where a path counts from there: in the place of one that was
 * removed Bun takes its own, and where the name is not UTF-8 Bun and Node make another one.
 *
 * @throws {UsageError} When it is not there by that.
 */
export async function checkFolder(path: string): Promise<void> {
  if (isAbsolute(path)) return;
  try {
    await stat(process.cwd());
  } catch (error) {
    // One that may not be looked at is there: whoever writes to it says what is wrong.
    if (codeOf(error) === "ENOENT") throw new UsageError(goneFolder);
  }
}

/**
 * The text of a file; undefined when there is none.
 *
 * @param where What the message calls it: `the config "mcp.json"`.
 * @throws {UsageError} When it is there and cannot be read, holds more than 16 MiB, or is not UTF-8.
 */
export async function readText(path: string, where: string): Promise<string | undefined> {
  let size = 0;
  try {
    ({ size } = await stat(path));
    if (size <= mostInput) return decodeText(await readFile(path), where);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new UsageError(`Cannot read ${where}: ${whyNot(error)}`);
  }
  throw new UsageError(`Cannot read ${where}: it is longer than 16 MiB`);
}

/**
 * Bytes as a text. What is not UTF-8 would be sent with other characters in its place.
 *
 * @throws {UsageError} When they are not UTF-8.
 */
export function decodeText(bytes: Uint8Array, where: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`Cannot read ${where}: it is not UTF-8; save it as that`);
  }
}

/**
 * Writes a file that was asked for.
 *
 * @throws {UsageError} When it cannot be written there.
 * @throws {OutputError} When the disk is full.
 */
export async function writeResultFile(path: string, content: string | Uint8Array): Promise<void> {
  const isNew = await lstat(path).then(() => false, (error: unknown) => codeOf(error) === "ENOENT");
  try {
    if (isNew || !await replaced(path, content)) await writeFile(path, content);
  } catch (error) {
    // A part of it would be taken for the whole.
    if (isNew) await rm(path, { force: true }).catch(() => {});
    throw new (isFull(error) ? OutputError : UsageError)(`Cannot write "${path}": ${whyNot(error)}`);
  }
}

/**
 * Puts a new file in the place of the one that is there: where the new one does not fit on the disk, the old one stays whole. False:
 * that cannot be done, and nothing was; it may have other names, be a device, or belong to somebody else.
 */
async function replaced(path: string, content: string | Uint8Array): Promise<boolean> {
  const target = await realpath(path).catch(() => path);
  const draft = `${target}.${randomHex(systemRandom, 8)}.tmp`;
  const file = await draftFor(target, draft).catch((error: unknown) => {
    if (isFull(error)) throw error;
    return undefined;
  });
  if (!file) return false;
  let isWritten = false;
  try {
    await file.writeFile(content).finally(() => file.close());
    isWritten = true;
    await rename(draft, target);
    return true;
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    if (isWritten) return false;
    throw error;
  }
}

/** Opens a file beside another one, of the same owner and with the same permissions; undefined where it could not stand for it. */
async function draftFor(target: string, draft: string): Promise<FileHandle | undefined> {
  const old = await stat(target);
  // What this user may not write is not replaced either.
  await access(target, constants.W_OK);
  if (!old.isFile() || old.nlink > 1) return undefined;
  const file = await open(draft, "wx", old.mode & 0o777);
  try {
    const { uid, gid } = await file.stat();
    if (uid !== old.uid || gid !== old.gid) throw new Error("it would be somebody else's");
    await file.chmod(old.mode & 0o777);
    return file;
  } catch (error) {
    await file.close();
    await rm(draft, { force: true });
    throw error;
  }
}

/** Whether there is no more room. */
export function isFull(error: unknown): boolean {
  return codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT";
}

/** Why a file cannot be read or written, in words of ours: those of the runtimes differ. */
export function whyNot(error: unknown): string {
  return reasons[codeOf(error) ?? ""] ?? (error instanceof Error ? error.message : String(error));
}
