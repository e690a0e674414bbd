/**
 * Files as people write them.
 *
 * @module
 */
import { lstat, readFile, rm, stat, writeFile } from "node:fs/promises";
import { isAbsolute } from "node:path";
import process from "node:process";
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
    await writeFile(path, content);
  } catch (error) {
    // A part of it would be taken for the whole.
    if (isNew) await rm(path, { force: true }).catch(() => {});
    throw new (isFull(error) ? OutputError : UsageError)(`Cannot write "${path}": ${whyNot(error)}`);
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
