/**
 * The journal: the steps of runs, with what became of them.
 *
 * @module
 */
import { McpError } from "../../../protocol/errors.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import { nextStepState, type StepAct, type StepState } from "../states.ts";
import { numberOf, textOf } from "./cells.ts";
import type { RunsDatabase } from "./sealing.ts";
import { parseKept, readText, writeText } from "./texts.ts";

/** A step as it is kept. */
export interface StepRow {
  readonly state: StepState;
  readonly isRepeatable: boolean;
  readonly argumentsHash: string | undefined;
  readonly attempt: number;
}

/** What is kept of a step that begins. */
export interface StepIntent {
  readonly run: string;
  readonly name: string;
  readonly isRepeatable: boolean;
  readonly argumentsHash: string | undefined;
  readonly now: number;
}

/** One step; undefined where nothing is kept of it. */
export function findStep(database: RunsDatabase, run: string, name: string): StepRow | undefined {
  const row = database.all(
    "select state, repeatable, arguments_hash, attempt from agent_steps where run = ? and name = ?",
    run,
    name,
  )[0];
  if (!row) return undefined;
  const hash = row["arguments_hash"];
  return {
    state: toState(textOf(row, "state")),
    isRepeatable: numberOf(row, "repeatable") === 1,
    argumentsHash: hash === null ? undefined : database.open({ table: "agent_steps", run, key: [name] }, hash),
    attempt: numberOf(row, "attempt"),
  };
}

/** Writes down that a step begins, for the first time or again. */
export function writeIntent(database: RunsDatabase, intent: StepIntent, before: StepRow | undefined): void {
  const { run, name, isRepeatable, argumentsHash, now } = intent;
  const state = advance(before?.state ?? "planned", before ? "repeat" : "begin", name);
  database.run(
    `insert into agent_steps (run, name, state, repeatable, arguments_hash, attempt, at) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (run, name) do update set state = excluded.state, attempt = excluded.attempt, at = excluded.at`,
    run,
    name,
    state,
    isRepeatable ? 1 : 0,
    // What it is a hash of could be guessed.
    argumentsHash === undefined ? null : database.seal({ table: "agent_steps", run, key: [name] }, argumentsHash),
    (before?.attempt ?? 0) + 1,
    now,
  );
}

/** Writes down how a step ended. `text` is JSON; undefined for a step that gave nothing. */
export function writeOutcome(
  database: RunsDatabase,
  place: { run: string; name: string; now: number },
  act: "finish" | "throw" | "lose",
  text: string | undefined,
): void {
  const { run, name, now } = place;
  const before = database.all("select state from agent_steps where run = ? and name = ?", run, name)[0];
  const state = advance(before ? toState(textOf(before, "state")) : "planned", act, name);
  database.run("update agent_steps set state = ?, at = ? where run = ? and name = ?", state, now, run, name);
  if (text !== undefined) writeText(database, { run, kind: "step", name }, text);
}

/** What a step gave. */
export function readResult(database: RunsDatabase, run: string, name: string): unknown {
  const text = readText(database, run, "step", name);
  return text === undefined ? undefined : parseKept(text, run, "step");
}

/** What a step threw, as well as it can be told: an error with its name and message. */
export function readFailure(database: RunsDatabase, run: string, name: string): Error {
  const kept = readResult(database, run, name);
  const { name: kind, message, code } = isObject(kept) ? kept : {};
  const error = new Error(typeof message === "string" ? message : "The step failed");
  if (typeof kind === "string") error.name = kind;
  return typeof code === "string" ? Object.assign(error, { code }) : error;
}

/** What is kept of what a step threw. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify({ name: "Error", message: String(error) });
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  return JSON.stringify({ name: error.name, message: error.message, ...code });
}

/** Steps that begun and did not end, and may not be done again, are unknown from now on. */
export function loseIntents(database: RunsDatabase, run: string, now: number): void {
  database.run(
    "update agent_steps set state = 'unknown', at = ? where run = ? and state = 'intent' and repeatable = 0",
    now,
    run,
  );
}

/** The names of the steps that may have been done. */
export function unknownSteps(database: RunsDatabase, run: string): string[] {
  const rows = database.all("select name from agent_steps where run = ? and state = 'unknown' order by name", run);
  return rows.map((row) => textOf(row, "name"));
}

function advance(state: StepState, act: StepAct, name: string): StepState {
  const next = nextStepState(state, act);
  if (next !== undefined) return next;
  throw new McpError(`Cannot write the step "${name}" down: it is "${state}", and "${act}" cannot follow`);
}

function toState(text: string): StepState {
  if (text === "intent" || text === "result" || text === "error" || text === "unknown") return text;
  throw new McpError(`Cannot read the database of runs: there is no state ${text} of a step`);
}
