/**
 * Texts in files, for Bun, Deno and Node.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { lstat, open, readdir, rename, rm, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { randomHex, systemClock, systemRandom } from "../../ports.ts";
import type { Clock, Random, Store } from "../../ports.ts";
import { McpError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import {
  codeOf,
  fileError,
  isPrivateFolder,
  makePrivateFolder,
  readPrivateFile,
  syncFile,
  syncFolder,
} from "./file_access.ts";
import { takeLock } from "./file_lock.ts";
import { knowSelf, type Self } from "./lock_owner.ts";

/** Options of {@linkcode createFileStore}. */
export interface FileStoreOptions {
  /** How long a change waits for another process that changes the same key, in milliseconds (10,000). */
  lockTimeout?: number | undefined;
  /** Time. Default: the runtime's. */
  clock?: Clock | undefined;
  /** Chance. Default: the runtime's. */
  random?: Random | undefined;
}

/** A `Store` that can compare. */
export type FileStore = Required<Store>;

/** After how long a file that a dead process left half written is removed, in milliseconds. */
const leftOver = 3_600_000;

/**
 * Keeps texts in a folder, one file each, for the store of `createOAuth` and others. Processes may share it: a change is
 * whole or not there at all, also when the process is killed or the machine loses its power, and changes of one key wait for
 * each other. (Node from 26 on lets nobody bring files to the disk under `--permission`: there a loss of power may take the last ones.)
 *
 * The folder and its files are for this user alone (0700, 0600); wider permissions are taken away. The texts are readable for
 * whoever can read the files: wrap the store in `createSealedStore` where that is not wanted.
 *
 * Threads of one process may share it too. One that is ended (`worker.terminate()`) in the middle of a change keeps that key for
 * itself, on Linux until its process ends: end a thread when its last change is done.
 *
 * @param folder Where: it is made with the first text. It should hold nothing else.
 * @returns A store. It rejects with an `McpError` that names the path when a file cannot be read or written, and with an
 * `OverloadedError` when another process holds a key for longer than `lockTimeout`.
 * @throws {TypeError} When the folder has no name.
 * @throws {RangeError} When `lockTimeout` is no positive number.
 *
 * @example Sign-ins that outlive the process
 * ```ts
 * import { createOAuth } from "@causeway/mcp/auth";
 * import { createFileStore } from "@causeway/mcp/local";
 *
 * const store = createFileStore("/home/ada/.config/my-program/credentials");
 * const oauth = createOAuth({ store, redirectUri: "http://127.0.0.1:8085/callback" });
 * console.assert(typeof oauth.wrap === "function");
 * ```
 */
export function createFileStore(folder: string, options: FileStoreOptions = {}): FileStore {
  const { lockTimeout = 10_000, clock = systemClock, random = systemRandom } = options;
  if (typeof folder !== "string" || folder === "" || folder.includes("\0")) {
    throw new TypeError(`Cannot keep files in ${JSON.stringify(folder)}: expected the path of a folder`);
  }
  if (!(lockTimeout > 0 && Number.isFinite(lockTimeout))) {
    throw new RangeError(`"lockTimeout" is ${lockTimeout}, expected a number above 0`);
  }
  return new FolderStore(resolve(folder), lockTimeout, clock, random);
}

class FolderStore implements FileStore {
  readonly #folder: string;
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Changes of one key in this process, one after another. */
  readonly #queues = new Map<string, Promise<unknown>>();
  #self: Self | undefined;
  #isTidy = false;

  constructor(folder: string, timeout: number, clock: Clock, random: Random) {
    this.#folder = folder;
    this.#timeout = timeout;
    this.#clock = clock;
    this.#random = random;
  }

  async get(key: string): Promise<string | undefined> {
    return await isPrivateFolder(this.#folder) ? await this.#read(key) : undefined;
  }

  async set(key: string, value: string): Promise<void> {
    await this.#change(key, () => ({ value }));
  }

  async delete(key: string): Promise<void> {
    // Nothing is made for what is not there.
    const isNeeded = async (): Promise<boolean> => await isPrivateFolder(this.#folder) && await this.#isThere(key);
    await this.#change(key, () => ({ value: undefined }), isNeeded);
  }

  async compareAndSet(key: string, expected: string | undefined, value: string | undefined): Promise<boolean> {
    return await this.#change(key, async () => await this.#read(key) === expected ? { value } : undefined);
  }

  /**
   * Does one change of a key while no other one happens; `decide` gives what to keep, or undefined for no change.
   *
   * @param isNeeded Looked at when those that were begun before it here are done, and before anything is made.
   */
  async #change(
    key: string,
    decide: () => Change | undefined | Promise<Change | undefined>,
    isNeeded: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<boolean> {
    const path = this.#path(key);
    const [clock, random, timeout] = [this.#clock, this.#random, this.#timeout];
    const until = clock.monotonic() + timeout;
    return await this.#alone(path, async () => {
      if (!await isNeeded()) return false;
      await this.#prepare();
      this.#self ??= await knowSelf();
      const lock = await takeLock(`${path}.lock`, { timeout, until, self: this.#self, clock, random });
      try {
        const change = await decide();
        if (!change) return false;
        if (change.value === undefined) await this.#remove(path, lock.check);
        else await this.#write(path, JSON.stringify({ key, value: change.value }), lock.check);
        return true;
      } finally {
        await lock.release();
      }
    });
  }

  async #read(key: string): Promise<string | undefined> {
    const path = this.#path(key);
    const text = await readPrivateFile(path);
    if (text === undefined) return undefined;
    const kept = parseFile(text);
    if (!kept) throw new McpError(`Cannot read "${path}": it is no file of this store, or damaged`);
    if (kept.key !== key) throw new McpError(`Cannot read "${path}": it belongs to another key`);
    return kept.value;
  }

  async #write(path: string, text: string, check: () => Promise<void>): Promise<void> {
    const aside = `${path}.${randomHex(this.#random, 8)}.tmp`;
    try {
      const handle = await open(aside, "wx", 0o600);
      try {
        await handle.writeFile(text);
        await syncFile(handle);
      } finally {
        await handle.close();
      }
      await check();
      await rename(aside, path);
    } catch (error) {
      await unlink(aside).catch(() => {});
      throw fileError("write", path, error);
    }
    await this.#sync(path);
  }

  async #remove(path: string, check: () => Promise<void>): Promise<void> {
    await check();
    try {
      await unlink(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw fileError("remove", path, error);
    }
    await this.#sync(path);
  }

  async #sync(path: string): Promise<void> {
    try {
      await syncFolder(this.#folder);
    } catch (error) {
      throw fileError("write", path, error);
    }
  }

  /** The folder, without what processes left that were killed while they wrote. */
  async #prepare(): Promise<void> {
    await makePrivateFolder(this.#folder);
    if (this.#isTidy) return;
    this.#isTidy = true;
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((name) => /^[\da-f]{64}\.(?:lock\.)?[\da-f]{16}\.tmp$/.test(name))) {
      const path = join(this.#folder, name);
      const made = await lstat(path).then(({ mtimeMs }) => mtimeMs, () => Infinity);
      if (this.#clock.now() - made > leftOver) await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }

  async #isThere(key: string): Promise<boolean> {
    const path = this.#path(key);
    try {
      await lstat(path);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      throw fileError("remove", path, error);
    }
  }

  #path(key: string): string {
    // As JSON no two keys are the same bytes, not even those that are no proper Unicode.
    return join(this.#folder, createHash("sha256").update(JSON.stringify(key)).digest("hex"));
  }

  #alone<Value>(path: string, work: () => Promise<Value>): Promise<Value> {
    const done = (this.#queues.get(path) ?? Promise.resolve()).then(work);
    const last = done.then(() => {}, () => {}).then(() => {
      if (this.#queues.get(path) === last) this.#queues.delete(path);
    });
    this.#queues.set(path, last);
    return done;
  }
}

interface Change {
  readonly value: string | undefined;
}

function parseFile(text: string): { key: string; value: string } | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    // What the parser says would show a part of the text.
    return undefined;
  }
  if (!isObject(content)) return undefined;
  const { key, value } = content;
  return typeof key === "string" && typeof value === "string" ? { key, value } : undefined;
}
