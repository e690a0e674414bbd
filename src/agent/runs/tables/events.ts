/**
 * The events of runs, in their order and without gaps.
 *
 * @module
 */
import { LimitExceededError } from "../../../protocol/errors.ts";
import type { AgentEvent } from "../../loop/seam.ts";
import type { RunEvent } from "../seam.ts";
import { numberOf } from "./cells.ts";
import type { RunRow } from "./runs.ts";
import type { RunsDatabase } from "./sealing.ts";
import { parseKept, readJson, writeText } from "./texts.ts";

/** An event that was told, and under which key. */
export interface Told {
  readonly key: string;
  readonly event: AgentEvent;
  /** When, in milliseconds since 1970. */
  readonly at: number;
}

/** How much of them is kept. */
export interface EventLimits {
  readonly events: number;
  readonly bytes: number;
}

/** Characters that stand in the event's own row; longer ones lie in parts. */
const longestInline = 262_144;
/** Characters of pieces of text that become one event. */
const longestPiece = 16_384;

/**
 * Keeps events: each key of a run once, and pieces of text that follow each other as one.
 *
 * @returns The run with what has changed. It is not saved.
 * @throws {LimitExceededError} When there are too many, or they are too long.
 */
export function appendEvents(
  database: RunsDatabase,
  run: RunRow,
  told: readonly Told[],
  limits: EventLimits | undefined,
): RunRow {
  let { sequence, keys, bytes, steps, inputTokens, outputTokens } = run;
  for (const { event, at, pieces } of joinPieces(told.filter(({ key }) => isNew(database, run.id, key)))) {
    keys += pieces;
    sequence++;
    const text = JSON.stringify(event);
    bytes += text.length;
    if (limits && keys > limits.events) throw new LimitExceededError("limits.events", limits.events, keys);
    if (limits && bytes > limits.bytes) throw new LimitExceededError("limits.bytes", limits.bytes, bytes);
    const isLong = text.length > longestInline;
    database.run(
      "insert into agent_events (run, sequence, at, event) values (?, ?, ?, ?)",
      run.id,
      sequence,
      at,
      isLong ? null : database.seal({ table: "agent_events", run: run.id, key: [sequence] }, text),
    );
    if (isLong) writeText(database, { run: run.id, kind: "event", name: String(sequence) }, text);
    if (event.type === "step") steps = Math.max(steps, event.step);
    if (event.type === "usage") ({ inputTokens, outputTokens } = event.usage);
  }
  return { ...run, sequence, keys, bytes, steps, inputTokens, outputTokens };
}

/** An event that can be read. */
export interface KeptEvent {
  /** About how long it is, in characters. */
  readonly size: number;
  /** Long ones are read when it is their turn. */
  read(): RunEvent;
}

/** Events after a place, at most so many. */
export function readEvents(database: RunsDatabase, run: string, after: number, most: number): KeptEvent[] {
  const rows = database.all(
    "select sequence, at, event from agent_events where run = ? and sequence > ? order by sequence limit ?",
    run,
    after,
    most,
  );
  return rows.map((row) => {
    const kept = row["event"];
    const read = (): RunEvent => {
      const sequence = numberOf(row, "sequence");
      const event: AgentEvent = kept === null
        ? readJson(database, run, "event", String(sequence))
        : parseKept(database.open({ table: "agent_events", run, key: [sequence] }, kept), run, "event");
      return { sequence, at: numberOf(row, "at"), event };
    };
    const isInline = typeof kept === "string" || kept instanceof Uint8Array;
    return { size: isInline ? kept.length : longestInline, read };
  });
}

/** Whether an event is the last one of its run. */
export function isEnd(event: AgentEvent): boolean {
  return event.type === "succeeded" || event.type === "failed" || event.type === "cancelled";
}

function isNew(database: RunsDatabase, run: string, key: string): boolean {
  return database.all("insert or ignore into agent_event_keys (run, key) values (?, ?) returning key", run, key)
    .length > 0;
}

interface Joined {
  readonly event: AgentEvent;
  readonly at: number;
  readonly pieces: number;
}

function joinPieces(told: readonly Told[]): Joined[] {
  const joined: Joined[] = [];
  for (const { event, at } of told) {
    const last = joined.at(-1);
    const together = last && join(last.event, event);
    if (together) joined[joined.length - 1] = { event: together, at: last.at, pieces: last.pieces + 1 };
    else joined.push({ event, at, pieces: 1 });
  }
  return joined;
}

function join(first: AgentEvent, second: AgentEvent): AgentEvent | undefined {
  if (first.type !== "text" && first.type !== "reasoning") return undefined;
  if (second.type !== first.type || second.step !== first.step) return undefined;
  if (first.text.length + second.text.length > longestPiece) return undefined;
  return { ...first, text: first.text + second.text };
}
