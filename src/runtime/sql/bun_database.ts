/**
 * SQLite files by `bun:sqlite`.
 *
 * @module
 */
import process from "node:process";
import type { SqlDatabase, SqlRow, SqlValue } from "../../ports.ts";
import { type OpenDatabaseOptions, openFileDatabase, Statements } from "./file_database.ts";

interface Statement {
  all(...parameters: readonly SqlValue[]): SqlRow[];
  run(...parameters: readonly SqlValue[]): unknown;
  finalize(): void;
}

/** The part of `bun:sqlite` that is used, so that no other runtime needs Bun's types. */
interface BunSqlite {
  readonly Database: new (path: string, options: { create: boolean; readwrite: boolean }) => {
    prepare(sql: string): Statement;
    close(): void;
  };
}

/**
 * Opens an SQLite database, for `createRuns`: processes may share the file. What it was told is on the disk before it answers.
 *
 * @param path A file, which is made where there is none, for this user alone; `:memory:` for one that ends with the process.
 * @throws {TypeError} When the path or an option makes no sense.
 * @throws {McpError} When it cannot be opened, or is no database.
 *
 * @example A place for runs
 * ```ts ignore with=nothing
 * import { openDatabase } from "@causeway/mcp/bun";
 * import { createRuns } from "@causeway/mcp/agent";
 *
 * const database = await openDatabase(":memory:"); // or a file: "runs.db"
 * await using runs = createRuns({ database, agents: {} });
 * await runs.resume();
 * ```
 */
export async function openDatabase(path: string, options: OpenDatabaseOptions = {}): Promise<SqlDatabase> {
  // Not imported: bundlers and type checkers of others would look for it.
  const find: (name: string) => unknown = process.getBuiltinModule;
  const { Database } = find("bun:sqlite") as BunSqlite;
  return await openFileDatabase(path, options, (path) => {
    const database = new Database(path, { create: true, readwrite: true });
    // `query` would keep 20 statements.
    const statements = new Statements((sql) => database.prepare(sql));
    return {
      all: (sql, parameters) => statements.find(sql).all(...parameters),
      run: (sql, parameters) => void statements.find(sql).run(...parameters),
      close() {
        statements.clear();
        database.close();
      },
    };
  });
}
