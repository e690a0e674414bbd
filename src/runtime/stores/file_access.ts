/**
 * Files and folders that belong to one user alone, and what is said when they cannot be used.
 *
 * @module
 */
import { constants, type Stats } from "node:fs";
import { chmod, lstat, mkdir, open, stat } from "node:fs/promises";
import process from "node:process";
import { McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";

const ownerOnly = 0o700;
/** The permissions of everybody but the owner. */
const others = 0o077;

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not do that",
  EPERM: "this user may not do that",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota of this user is used up",
  EIO: "the disk failed",
  EMFILE: "too many files are open",
  ENFILE: "too many files are open",
  ENAMETOOLONG: "the path is too long",
  ELOOP: "it is a symbolic link, expected a file",
  EISDIR: "it is a folder, expected a file",
  ENOTDIR: "a part of the path is a file, expected a folder",
  ENOENT: "it is not there",
};

/** The code of what the system threw: `ENOENT`. Under jest and its like errors of the system are of another realm. */
export function codeOf(error: unknown): string | undefined {
  return isObject(error) && typeof error.code === "string" ? error.code : undefined;
}

/**
 * What is thrown for what the system said.
 *
 * @param action What was tried: `read`.
 */
export function fileError(action: string, path: string, cause: unknown): McpError {
  if (cause instanceof McpError) return cause;
  const reason = reasons[codeOf(cause) ?? ""] ?? (isObject(cause) ? cause.message : cause);
  return new McpError(`Cannot ${action} "${path}": ${reason}`, { cause });
}

/**
 * Makes a folder that its owner alone may use. One that is there is tightened.
 *
 * @throws {McpError} When it cannot be made, is no folder, or belongs to somebody else.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: ownerOnly });
  } catch (error) {
    // What is there is looked at below.
    if (codeOf(error) !== "EEXIST") throw fileError("make the folder", folder, error);
  }
  await isPrivateFolder(folder);
}

/**
 * Whether a folder is there; then it is tightened.
 *
 * @throws {McpError} When it is no folder, or belongs to somebody else.
 */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  try {
    const stats = await stat(folder);
    if (!stats.isDirectory()) throw refused(folder, "it is a file, expected a folder");
    await tighten(folder, stats);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw fileError("use", folder, error);
  }
}

/**
 * The text of a file that its owner alone may use, or undefined where there is none. Links are not followed; permissions of
 * others are taken away.
 *
 * @throws {McpError} When it cannot be read, is no file, or belongs to somebody else.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) throw refused(path, "it is a symbolic link, expected a file");
    if (!stats.isFile()) throw refused(path, "it is no file, expected one");
    await tighten(path, stats);
    // Not every runtime knows the flag: for them it was looked at above.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw fileError("read", path, error);
  }
}

/**
 * Brings what was written to the disk. A newer Node with `--permission` takes that away from all programs: there what is moved into
 * its place is whole all the same, and may be lost with the machine's power.
 */
export async function syncFile(file: { sync(): Promise<void> }): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    if (codeOf(error) !== "ERR_ACCESS_DENIED") throw error;
  }
}

/** Brings the names in a folder to the disk, where the system can do that. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === "EIO" || code === "ENOSPC" || code === "EDQUOT") throw error;
  }
}

/** Whether a file of `owner` is not to be trusted by `user`. The administrator is. */
export function isForeign(owner: number, user: number): boolean {
  return owner !== user && owner !== 0 && user !== 0;
}

async function tighten(path: string, stats: Stats): Promise<void> {
  // Windows has other means, which Node does not show.
  if (process.platform === "win32") return;
  const user = userId();
  if (user !== undefined && isForeign(stats.uid, user)) {
    throw refused(path, `it belongs to the user ${stats.uid}, expected ${user}`);
  }
  if ((stats.mode & others) === 0) return;
  try {
    await chmod(path, stats.mode & ownerOnly);
  } catch (cause) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, "0");
    throw new McpError(`Cannot use "${path}": others may (mode ${mode}), and it cannot be changed`, { cause });
  }
}

function userId(): number | undefined {
  try {
    return process.getuid?.();
  } catch {
    // Deno asks for a permission.
    return undefined;
  }
}

function refused(path: string, reason: string): McpError {
  return new McpError(`Cannot use "${path}": ${reason}`);
}
