/**
 * A lock that processes share through the file system.
 *
 * A lock is a folder with one file in it, whose name tells the holder and is never used again. It comes into being by
 * renaming a folder that was made ready aside, which fails as long as there is a file in the one that is there: so no lock is
 * ever seen half made. It ends, by its holder or by who found the holder dead, when that very file is removed: that
 * cannot hit the lock of anybody else, however late it happens.
 *
 * @module
 */
import { mkdir, readdir, rename, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { randomHex } from "../../ports.ts";
import type { Clock, Random } from "../../ports.ts";
import { OverloadedError } from "../../protocol/errors.ts";
import { codeOf, fileError } from "./file_access.ts";
import { judgeOwner, leaderOf, nameOwner, type Self } from "./lock_owner.ts";

/** What a lock works with. */
export interface FileLockOptions {
  /** How long to wait for it, in milliseconds. */
  readonly timeout: number;
  /** When that is over, by the monotonic clock: it may have begun before. */
  readonly until: number;
  readonly self: Self;
  readonly clock: Clock;
  readonly random: Random;
}

/** A lock that is held. */
export interface FileLock {
  /**
   * Sees that it was not taken away.
   *
   * @throws {OverloadedError} When it was: this process stood still for too long.
   */
  check(): Promise<void>;
  /** Lets go of it. Never rejects. */
  release(): Promise<void>;
}

/** How long a holder is believed that cannot be looked at from here, in milliseconds. */
const mostUnseen = 60_000;
/** How often a waiting lock is dated anew, in milliseconds. */
const touchPause = 1_000;
const longestPause = 40;
/** What lies between the tries to give a lock back, in milliseconds. */
const releasePauses: readonly number[] = [20, 200];

/**
 * Takes the lock at a path, as soon as it is free.
 *
 * @param path Where the lock is, below an existing folder.
 * @throws {OverloadedError} When somebody else held it all the time.
 * @throws {McpError} When the file system refuses.
 */
export async function takeLock(path: string, options: FileLockOptions): Promise<FileLock> {
  const made = `${path}.${randomHex(options.random, 8)}.tmp`;
  const owner = nameOwner(options.self, options.random);
  try {
    await mkdir(made, { mode: 0o700 });
    await wait(path, made, owner, options);
  } catch (error) {
    await rm(made, { recursive: true, force: true }).catch(() => {});
    throw fileError("lock", path, error);
  }
  const file = join(path, owner);
  return {
    async check() {
      if (await isThere(file)) return;
      throw new OverloadedError(`Cannot keep the lock "${path}": this process stood still, and another one took it`);
    },
    release: () => release(path, owner, options),
  };
}

async function wait(path: string, made: string, owner: string, options: FileLockOptions): Promise<void> {
  const { clock, random, until } = options;
  let touched = -Infinity;
  for (let attempt = 0;; attempt++) {
    const now = clock.monotonic();
    // The date of the file is that of the lock. It comes from the file system, whose clock all machines share.
    if (now - touched >= touchPause) {
      await writeFile(join(made, owner), ".", { mode: 0o600 });
      touched = now;
    }
    const failure = await move(made, path);
    if (failure === undefined) return;
    const holder = await findHolder(path, join(made, owner), options.self);
    if (now >= until) throw holder === undefined ? failure : await tooLate(path, holder, options);
    const pause = Math.min(2 ** Math.min(attempt, 8), longestPause) * (0.5 + random.fraction());
    // After a lock was cleared away others are as quick as this one: also then a pause that grows.
    await new Promise<void>((resolve) => void clock.schedule(resolve, Math.min(pause, until - now)));
  }
}

/** Undefined when the lock is ours; otherwise what the system said, when that may mean that somebody else has it. */
async function move(made: string, path: string): Promise<Error | undefined> {
  try {
    await rename(made, path);
    return undefined;
  } catch (error) {
    const isTaken = ["EEXIST", "ENOTEMPTY", "EPERM", "EACCES", "EBUSY"].includes(codeOf(error) ?? "");
    if (isTaken) return error as Error;
    throw error;
  }
}

/** The name of the living holder. What a dead one left is cleared away. */
async function findHolder(path: string, own: string, self: Self): Promise<string | undefined> {
  let names: string[];
  try {
    names = await readdir(path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  const [name] = names;
  if (name === undefined) {
    // Not every system renames over an empty folder. It goes only as long as it is empty.
    await rmdir(path).catch(() => {});
    return undefined;
  }
  const verdict = await judgeOwner(name, self);
  const isDead = verdict === "dead" || (verdict === "unknown" && await isOutdated(join(path, name), own));
  if (!isDead) return name;
  await remove(path, name);
  return undefined;
}

async function isOutdated(file: string, own: string): Promise<boolean> {
  try {
    const [theirs, ours] = await Promise.all([stat(file), stat(own)]);
    return ours.mtimeMs - theirs.mtimeMs > mostUnseen;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Gives a lock back. What stays of one whose holder lives would be cleared away by nobody: so it is tried again. */
async function release(path: string, owner: string, { clock }: FileLockOptions): Promise<void> {
  for (const pause of releasePauses) {
    if (await remove(path, owner)) return;
    await new Promise<void>((resolve) => void clock.schedule(resolve, pause));
  }
  await remove(path, owner);
}

/** Whether its file is gone. The folder, where it stays, is cleared away by whoever comes next. */
async function remove(path: string, owner: string): Promise<boolean> {
  const isGone = await unlink(join(path, owner)).then(() => true, (error) => codeOf(error) === "ENOENT");
  await rmdir(path).catch(() => {});
  return isGone;
}

async function isThere(file: string): Promise<boolean> {
  return await stat(file).then(() => true, () => false);
}

async function tooLate(path: string, holder: string, { timeout, self }: FileLockOptions): Promise<OverloadedError> {
  const pid = await leaderOf(holder, self);
  const own = pid === process.pid ? " (this very one: another call of it, or a thread, is at work)" : "";
  const who = pid === undefined ? `"${holder}" is in its way` : `the process ${pid} holds it${own}`;
  return new OverloadedError(`Cannot take the lock "${path}" within ${timeout} ms: ${who}`, { retryable: true });
}
