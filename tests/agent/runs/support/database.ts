/**
 * A database for each test: in memory, or that of the Durable Object that the tests run in.
 *
 * @module
 */
import type { SqlDatabase, SqlRow, SqlValue } from "../../../../src/ports.ts";
import { createObjectDatabase, type ObjectSqlStorage } from "../../../../src/runtime/sql/object_database.ts";

/** Set by `tests/hosts/workerd_exports.ts`. */
declare global {
  var CAUSEWAY_STORAGE: ObjectSqlStorage | undefined;
}

/** The runtime's version of Node, where it is one. */
const node = /^Node\.js\/(\d+)/.exec(globalThis.navigator?.userAgent ?? "")?.[1] ??
  ("process" in globalThis && !("Bun" in globalThis) && !("Deno" in globalThis) && !globalThis.navigator
    ? "20"
    : undefined);

/** Why tests with a database are left out here; false where they run. */
export const skip: string | false = node !== undefined && Number(node) < 22
  ? "Node has SQLite since 22.13: node_local_test.ts runs them there"
  : false;

/** An empty database. */
export async function emptyDatabase(): Promise<SqlDatabase> {
  const storage = globalThis.CAUSEWAY_STORAGE;
  if (!storage) return await openAnyDatabase(":memory:");
  const database = createObjectDatabase(storage);
  const rows = database.all(
    "select name from sqlite_master where type = 'table' and name like 'agent\\_%' escape '\\'",
  );
  for (const { name } of rows) database.run(`drop table ${String(name)}`);
  return database;
}

/** Opens a file in the way of the runtime. */
export async function openAnyDatabase(path: string): Promise<SqlDatabase> {
  const { openDatabase } = "Bun" in globalThis
    ? await import("../../../../src/runtime/sql/bun_database.ts")
    : await import("../../../../src/runtime/sql/node_database.ts");
  return await openDatabase(path);
}

/** What happens to each statement. */
export interface Meddler {
  /** Before a statement, or a transaction (`begin`) or its end (`commit`). */
  before?(sql: string, parameters: readonly SqlValue[]): void;
  /** After it. */
  after?(sql: string, parameters: readonly SqlValue[]): void;
}

/** A database whose every operation somebody looks at, and can spoil. */
export function meddleWith(database: SqlDatabase, meddler: Meddler): SqlDatabase {
  const watched = <Value>(sql: string, parameters: readonly SqlValue[], work: () => Value): Value => {
    meddler.before?.(sql, parameters);
    const value = work();
    meddler.after?.(sql, parameters);
    return value;
  };
  let depth = 0;
  return {
    all: (sql, ...parameters): readonly SqlRow[] => watched(sql, parameters, () => database.all(sql, ...parameters)),
    run: (sql, ...parameters) => watched(sql, parameters, () => database.run(sql, ...parameters)),
    transaction(work) {
      if (depth > 0) return work();
      meddler.before?.("begin", []);
      depth++;
      let value: ReturnType<typeof work>;
      try {
        value = database.transaction(() => {
          const value = work();
          meddler.before?.("commit", []);
          return value;
        });
      } finally {
        depth--;
      }
      meddler.after?.("commit", []);
      return value;
    },
    cipher: database.cipher,
    ...database.sync ? { sync: () => database.sync?.() ?? Promise.resolve() } : {},
    close: () => database.close?.(),
  };
}
