/**
 * What is read from rows, checked.
 *
 * @module
 */
import type { SqlRow } from "../../../ports.ts";
import { McpError } from "../../../protocol/errors.ts";

/** What is kept of one run cannot be read: that says nothing of the others, nor of the database. */
export class DamagedError extends McpError {}

/** A text. */
export function textOf(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : broken(column, "a text");
}

/** A number. */
export function numberOf(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === "number" ? value : broken(column, "a number");
}

/** A text, or undefined for null. */
export function optionalText(row: SqlRow, column: string): string | undefined {
  return row[column] === null ? undefined : textOf(row, column);
}

/** A number, or undefined for null. */
export function optionalNumber(row: SqlRow, column: string): number | undefined {
  return row[column] === null ? undefined : numberOf(row, column);
}

function broken(column: string, expected: string): never {
  throw new DamagedError(
    `Cannot read the database of runs: the column "${column}" holds something else than ${expected}`,
  );
}
