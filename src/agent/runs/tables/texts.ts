/**
 * Long texts, in parts.
 *
 * @module
 */
import type { SqlRow } from "../../../ports.ts";
import { DamagedError, numberOf } from "./cells.ts";
import type { RunsDatabase, TextPlace } from "./sealing.ts";

/** What a text is of. */
export type TextKind = "task" | "end" | "step" | "event" | "question" | "answer" | "signal";

/** Characters of one part: at most 768 KiB in UTF-8. */
const partLength = 262_144;

/** Keeps a text in the place of the one before. */
export function writeText(
  database: RunsDatabase,
  place: { readonly run: string; readonly kind: TextKind; readonly name: string },
  text: string,
): void {
  const { run, kind, name } = place;
  let part = 0;
  for (let start = 0; start < text.length || part === 0; part++) {
    let end = Math.min(start + partLength, text.length);
    // The two halves of one character stay together.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    database.run(
      "insert or replace into agent_texts (run, kind, name, part, text) values (?, ?, ?, ?, ?)",
      run,
      kind,
      name,
      part,
      database.seal({ table: "agent_texts", run, key: [kind, name, part] }, text.slice(start, end)),
    );
    start = end;
  }
}

/**
 * A text that was kept; undefined where there is none.
 */
export function readText(database: RunsDatabase, run: string, kind: TextKind, name: string): string | undefined {
  const rows = database.all(
    "select part, text from agent_texts where run = ? and kind = ? and name = ? order by part",
    run,
    kind,
    name,
  );
  if (rows.length === 0) return undefined;
  const placeOf = (row: SqlRow): TextPlace => ({ table: "agent_texts", run, key: [kind, name, numberOf(row, "part")] });
  return rows.map((row) => database.open(placeOf(row), row["text"])).join("");
}

/**
 * What was kept as JSON.
 *
 * @throws {DamagedError} When it is not there, or is no JSON.
 */
export function readJson<Value>(database: RunsDatabase, run: string, kind: TextKind, name: string): Value {
  return parseKept(readText(database, run, kind, name) ?? "", run, kind);
}

/**
 * What a text says that was kept as JSON.
 *
 * @throws {DamagedError} When it is none.
 */
export function parseKept<Value>(text: string, run: string, kind: TextKind): Value {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DamagedError(`Cannot read the database of runs: the ${kind} of the run ${run} is damaged`, { cause });
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
