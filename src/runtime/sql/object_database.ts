/**
 * The SQLite database of a Durable Object.
 *
 * @module
 */
import type { SqlDatabase, SqlRow, SqlValue } from "../../ports.ts";
import { findCipher } from "./cipher.ts";
import { checkValue } from "./transaction_value.ts";

/** The part of a Durable Object's storage that is used: `state.storage` of a class under `new_sqlite_classes`. */
export interface ObjectSqlStorage {
  /** Its database. */
  readonly sql: {
    exec(sql: string, ...parameters: readonly (string | number | null | ArrayBuffer)[]): {
      toArray(): readonly Readonly<Record<string, string | number | null | ArrayBuffer>>[];
    };
  };
  /** Does all of it, or nothing. */
  transactionSync<Value>(work: () => Value): Value;
}

/**
 * Makes a database of the storage of a Durable Object, for `createRuns` in the object itself.
 *
 * What leaves the object (an answer, a fetch, a message) waits for what was written before it: the runtime's output gate sees to
 * that. So nothing here waits for the disk, and many writes go there together.
 *
 * @param storage `state.storage`, of a class that `wrangler.toml` names under `new_sqlite_classes`.
 * @throws {TypeError} When the object has no SQLite.
 *
 * @example Runs in an object
 * ```ts
 * import { createObjectRuns } from "@causeway/mcp/agent";
 * import type { ObjectAlarm } from "@causeway/mcp/agent";
 * import { createObjectDatabase } from "@causeway/mcp/workers";
 * import type { ObjectSqlStorage } from "@causeway/mcp/workers";
 *
 * const open = ({ storage }: { storage: ObjectSqlStorage & ObjectAlarm }) =>
 *   createObjectRuns({ database: createObjectDatabase(storage), storage, agents: {} });
 * console.assert(typeof open === "function");
 * ```
 */
export function createObjectDatabase(storage: ObjectSqlStorage): SqlDatabase {
  if (typeof storage.transactionSync !== "function") {
    throw new TypeError("The object has no SQLite: name its class under new_sqlite_classes in wrangler.toml");
  }
  let depth = 0;
  const all = (sql: string, parameters: readonly SqlValue[]): SqlRow[] =>
    storage.sql.exec(sql, ...parameters.map(toCell)).toArray().map(fromCells);
  return {
    all: (sql, ...parameters) => all(sql, parameters),
    run: (sql, ...parameters) => void all(sql, parameters),
    cipher: findCipher(),
    transaction(work) {
      if (depth > 0) return checkValue(work());
      depth++;
      try {
        return storage.transactionSync(() => checkValue(work()));
      } finally {
        depth--;
      }
    },
  };
}

function toCell(value: SqlValue): string | number | null | ArrayBuffer {
  return value instanceof Uint8Array ? value.slice().buffer : value;
}

function fromCells(row: Readonly<Record<string, string | number | null | ArrayBuffer>>): SqlRow {
  const cells: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(row)) {
    cells[name] = value instanceof ArrayBuffer ? new Uint8Array(value) : value;
  }
  return cells;
}
