/**
 * What SQLite files have in common, whichever library opens them.
 *
 * @module
 */
import type { Stats } from "node:fs";
import { chmod, open, stat } from "node:fs/promises";
import process from "node:process";
import type { SqlCipher, SqlDatabase, SqlRow, SqlValue } from "../../ports.ts";
import { McpError } from "../../protocol/errors.ts";
import { codeOf, fileError } from "../stores/file_access.ts";
import { findCipher } from "./cipher.ts";
import { insist } from "./patience.ts";
import { checkValue } from "./transaction_value.ts";

/** Options of `openDatabase`. */
export interface OpenDatabaseOptions {
  /** How long a statement waits for another process that writes, in milliseconds (5,000). */
  readonly busyTimeout?: number | undefined;
}

/** What a library for SQLite has to be able to do. */
export interface SqlEngine {
  all(sql: string, parameters: readonly SqlValue[]): readonly SqlRow[];
  run(sql: string, parameters: readonly SqlValue[]): void;
  close(): void;
}

/**
 * Opens a file: for its owner alone, with a write-ahead log that is on the disk before a statement has ended.
 *
 * @param path The file, or `:memory:`.
 * @param create Opens it by a library.
 * @throws {TypeError} When the path or an option makes no sense.
 * @throws {McpError} When it cannot be opened, or is no database.
 */
export async function openFileDatabase(
  path: string,
  { busyTimeout = 5_000 }: OpenDatabaseOptions,
  create: (path: string) => SqlEngine,
): Promise<SqlDatabase> {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new TypeError(`Cannot open the database ${JSON.stringify(path)}: expected the path of a file, or ":memory:"`);
  }
  if (!Number.isInteger(busyTimeout) || busyTimeout < 0 || busyTimeout > 2 ** 31 - 1) {
    throw new TypeError(`"busyTimeout" is ${busyTimeout}, expected milliseconds, 0 or more`);
  }
  const inMemory = path === ":memory:";
  if (!inMemory) await makePrivate(path);
  let engine: SqlEngine | undefined;
  try {
    engine = create(path);
    engine.run("pragma busy_timeout = 0", []);
    const database = new EngineDatabase(engine, busyTimeout);
    if (!inMemory) useLog(database);
    engine.run("pragma synchronous = full", []);
    return database;
  } catch (cause) {
    engine?.close();
    throw new McpError(`Cannot open the database "${path}": ${textOf(cause)}`, { cause });
  }
}

/** A database over an engine. */
class EngineDatabase implements SqlDatabase {
  readonly #engine: SqlEngine;
  readonly #busyTimeout: number;
  readonly cipher: SqlCipher | undefined = findCipher();
  #depth = 0;
  #isOpen = true;

  constructor(engine: SqlEngine, busyTimeout: number) {
    this.#engine = engine;
    this.#busyTimeout = busyTimeout;
  }

  // Within a transaction the file is this one's: nothing has to be waited for.
  all(sql: string, ...parameters: readonly SqlValue[]): readonly SqlRow[] {
    if (this.#depth > 0) return this.#engine.all(sql, parameters);
    return insist(this.#busyTimeout, () => this.#engine.all(sql, parameters));
  }

  run(sql: string, ...parameters: readonly SqlValue[]): void {
    if (this.#depth > 0) return this.#engine.run(sql, parameters);
    insist(this.#busyTimeout, () => this.#engine.run(sql, parameters));
  }

  transaction<Value>(work: () => Value): Value {
    if (this.#depth > 0) return checkValue(work());
    // At once as a writer: who only becomes one in the middle can be refused.
    this.run("begin immediate");
    this.#depth++;
    try {
      const value = checkValue(work());
      this.#engine.run("commit", []);
      return value;
    } catch (error) {
      this.#rollBack();
      throw error;
    } finally {
      this.#depth--;
    }
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#engine.close();
  }

  #rollBack(): void {
    try {
      this.#engine.run("rollback", []);
    } catch {
      // SQLite has rolled back by itself: the disk is full, for one.
    }
  }
}

/** Prepares each statement once. Those without values of their own are few; others must not stay for ever. */
export class Statements<Statement extends { readonly all: unknown; finalize?(): void }> {
  readonly #kept = new Map<string, Statement>();
  readonly #prepare: (sql: string) => Statement;

  constructor(prepare: (sql: string) => Statement) {
    this.#prepare = prepare;
  }

  /** The statement of a text. */
  find(sql: string): Statement {
    const kept = this.#kept.get(sql);
    if (kept !== undefined) return kept;
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= 200 && oldest !== undefined) this.#forget(oldest);
    const statement = this.#prepare(sql);
    this.#kept.set(sql, statement);
    return statement;
  }

  /** Lets go of all: in Bun, who has a statement has the file open. */
  clear(): void {
    for (const sql of this.#kept.keys()) this.#forget(sql);
  }

  #forget(sql: string): void {
    this.#kept.get(sql)?.finalize?.();
    this.#kept.delete(sql);
  }
}

async function makePrivate(path: string): Promise<void> {
  try {
    // Files beside it (the log) get the permissions of this one.
    const handle = await open(path, "ax", 0o600).catch(async (error) => {
      if (codeOf(error) !== "EEXIST") throw error;
      // One that is there is not opened: to close it would take the locks away from whoever else in this process has it open.
      const stats = await stat(path).catch(() => undefined);
      // A pipe would be waited for, and a device made the owner's alone for the whole machine.
      if (stats && !stats.isFile() && !stats.isDirectory()) throw new TypeError("it is no file, expected one");
      return isUsable(stats) ? undefined : await open(path, "a", 0o600);
    });
    await handle?.close();
    if (process.platform !== "win32") await chmod(path, 0o600);
  } catch (error) {
    // The file itself would be made.
    if (codeOf(error) === "ENOENT") {
      throw new McpError(`Cannot open the database "${path}": its folder is not there`, { cause: error });
    }
    throw fileError("open the database", path, error);
  }
}

/**
 * Whether it is a file that its owner can read and write: who is somebody else cannot make it private. `access` would have to
 * know who we are, and ends the process on Deno where it may not (`--allow-sys`).
 */
function isUsable(stats: Stats | undefined): boolean {
  return stats?.isFile() === true && (stats.mode & 0o600) === 0o600;
}

function useLog(database: SqlDatabase): void {
  if (journalOf(database, "journal_mode") === "wal") return;
  const mode = journalOf(database, "journal_mode = wal");
  if (mode !== "wal") throw new McpError(`it keeps no write-ahead log (journal_mode is ${String(mode)})`);
}

function journalOf(database: SqlDatabase, pragma: string): SqlValue | undefined {
  return database.all(`pragma ${pragma}`)[0]?.["journal_mode"];
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
