/**
 * SQLite files by `node:sqlite`, of Node and of Deno.
 *
 * @module
 */
import process from "node:process";
import type { SqlDatabase, SqlRow, SqlValue } from "../../ports.ts";
import { McpError } from "../../protocol/errors.ts";
import { type OpenDatabaseOptions, openFileDatabase, Statements } from "./file_database.ts";

interface Statement {
  all(...parameters: readonly SqlValue[]): unknown[];
  run(...parameters: readonly SqlValue[]): unknown;
}

/** The part of `node:sqlite` that is used. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string) => { prepare(sql: string): Statement; close(): void };
}

/**
 * Opens an SQLite database, for `createRuns`: processes may share the file. What it was told is on the disk before it answers.
 * Node has it since 22.13, and warns that it is experimental.
 *
 * @param path A file, which is made where there is none, for this user alone; `:memory:` for one that ends with the process.
 * @throws {TypeError} When the path or an option makes no sense.
 * @throws {McpError} When it cannot be opened, is no database, or Node is too old.
 *
 * @example A place for runs
 * ```ts
 * import { openDatabase } from "@causeway/mcp/node";
 * import { createRuns } from "@causeway/mcp/agent";
 *
 * const database = await openDatabase(":memory:"); // or a file: "runs.db"
 * await using runs = createRuns({ database, agents: {} });
 * await runs.resume();
 * ```
 */
export async function openDatabase(path: string, options: OpenDatabaseOptions = {}): Promise<SqlDatabase> {
  const { DatabaseSync } = load();
  return await openFileDatabase(path, options, (path) => {
    const database = new DatabaseSync(path);
    const statements = new Statements<Statement>((sql) => database.prepare(sql));
    return {
      all: (sql, parameters) => statements.find(sql).all(...parameters) as SqlRow[],
      run: (sql, parameters) => void statements.find(sql).run(...parameters),
      close: () => database.close(),
    };
  });
}

function load(): NodeSqlite {
  // Not imported: older ones would not even start.
  const find: ((name: string) => unknown) | undefined = process.getBuiltinModule;
  const found = find?.("node:sqlite");
  if (found) return found as NodeSqlite;
  throw new McpError(
    `Cannot open an SQLite database: Node ${process.versions.node} has none, expected Node 22.13 or newer`,
  );
}
