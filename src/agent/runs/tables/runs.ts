/**
 * The rows of runs: made, taken, given back, ended.
 *
 * @module
 */
import type { SqlRow } from "../../../ports.ts";
import type { AgentEnd, AgentQuestion, AgentTask } from "../../loop/seam.ts";
import type { RunRecord, RunState } from "../seam.ts";
import { isRunState } from "../states.ts";
import { DamagedError, numberOf, optionalNumber, optionalText, textOf } from "./cells.ts";
import { closedQuestions, openQuestions } from "./questions.ts";
import { tables } from "./schema.ts";
import type { RunsDatabase } from "./sealing.ts";
import { unknownSteps } from "./steps.ts";
import { readJson, writeText } from "./texts.ts";

/** What is kept of a run beside what it shows. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly principal: string;
  readonly state: RunState;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly endedAt: number | undefined;
  readonly deadline: number | undefined;
  readonly steps: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The place of its last event. */
  readonly sequence: number;
  /** How many keys of events are kept. */
  readonly keys: number;
  /** What is kept of it, in characters. */
  readonly bytes: number;
  /** The process that runs it. */
  readonly owner: string | undefined;
  /** How often it was taken: who has an older number may write nothing. */
  readonly epoch: number;
  /** When somebody has to look at it; for one that is run, when its lease ends. */
  readonly wakeAt: number | undefined;
  /** How often it was taken over from a dead process since a step of it was done. */
  readonly resumes: number;
}

/** What a run is made of. */
export interface NewRun {
  readonly id: string;
  readonly agent: string;
  readonly principal: string;
  readonly task: AgentTask;
  readonly deadline: number | undefined;
  readonly now: number;
  /** When it may be begun: at once, or when it is certain that it is kept. */
  readonly wakeAt: number;
}

/** One run; undefined where there is none. */
export function findRun(database: RunsDatabase, id: string): RunRow | undefined {
  const row = database.all("select * from agent_runs where id = ?", id)[0];
  return row && toRun(row);
}

/** Makes a run. `now` is moved on where another one was made in the same millisecond: times tell runs apart. */
export function insertRun(
  database: RunsDatabase,
  { id, agent, principal, task, deadline, now, wakeAt }: NewRun,
): void {
  const text = JSON.stringify(task);
  const last = database.all(
    "select max(created_at) as last from agent_runs where created_at >= ? and created_at < ?",
    now,
    now + 60_000,
  )[0];
  const createdAt = Math.max(now, (last && optionalNumber(last, "last") || 0) + 1);
  database.run(
    `insert into agent_runs (id, agent, principal, state, created_at, updated_at, deadline, bytes, wake_at)
     values (?, ?, ?, 'accepted', ?, ?, ?, ?, ?)`,
    id,
    agent,
    principal,
    createdAt,
    createdAt,
    deadline ?? null,
    text.length,
    wakeAt,
  );
  database.prepareRun(id);
  writeText(database, { run: id, kind: "task", name: "" }, text);
}

/** From now on a run that was accepted can be begun. */
export function confirmRun(database: RunsDatabase, id: string, now: number): void {
  database.run("update agent_runs set wake_at = ? where id = ? and state = 'accepted' and owner is null", now, id);
}

/** What the run was started with. */
export function readTask(database: RunsDatabase, id: string): AgentTask {
  return readJson(database, id, "task", "");
}

/** A run, as it is shown. */
export function toRecord(database: RunsDatabase, run: RunRow): RunRecord {
  const { id, agent, principal, state, createdAt, updatedAt, endedAt, steps, inputTokens, outputTokens } = run;
  const questions: readonly AgentQuestion[] = endedAt === undefined ? openQuestions(database, id) : [];
  const end: AgentEnd | undefined = endedAt === undefined ? undefined : readJson(database, id, "end", "");
  return {
    id,
    agent,
    principal,
    state,
    createdAt,
    updatedAt,
    ...endedAt === undefined ? {} : { endedAt },
    steps,
    usage: { inputTokens, outputTokens },
    questions,
    closed: closedQuestions(database, id, endedAt !== undefined),
    unknown: unknownSteps(database, id),
    ...end === undefined ? {} : { end },
  };
}

/** Runs, newest first; each is read when it is its turn, since one may be damaged. */
export function listRuns(
  database: RunsDatabase,
  options: { principal?: string | undefined; state?: RunState | undefined; limit: number; before?: number | undefined },
): { readonly createdAt: number; read(): RunRow }[] {
  const { principal, state, limit, before } = options;
  const conditions: string[] = ["created_at < ?"];
  const parameters: (string | number)[] = [before ?? Number.MAX_SAFE_INTEGER];
  if (principal !== undefined) {
    conditions.push("principal = ?");
    parameters.push(principal);
  }
  if (state !== undefined) {
    conditions.push("state = ?");
    parameters.push(state);
  }
  const sql = `select * from agent_runs where ${conditions.join(" and ")} order by created_at desc limit ?`;
  return database.all(sql, ...parameters, limit).map((row) => ({
    createdAt: numberOf(row, "created_at"),
    read: () => toRun(row),
  }));
}

/** How many runs have not ended. Counted by what there is in all: each open one would be read for it. */
export function countOpen(database: RunsDatabase): number {
  return countOf(
    database,
    "select (select count(*) from agent_runs) - (select count(*) from agent_runs where ended_at is not null) as count",
  );
}

/** What runs to take, where one does not have the agents of all. */
export interface KnownAgents {
  readonly names: readonly string[];
  /** Those of others are taken when they were due before this. */
  readonly before: number;
}

/**
 * Runs that somebody has to look at: their time has come, or their lease is longer than any lease is (a clock was turned back).
 */
export function dueRuns(
  database: RunsDatabase,
  now: number,
  options: {
    readonly longest: number;
    readonly most: number;
    readonly owner: string;
    readonly known: KnownAgents | undefined;
  },
): { readonly id: string; readonly isOwned: boolean }[] {
  const { longest, most, owner, known } = options;
  const { names = [], before = Number.MAX_SAFE_INTEGER } = known ?? {};
  const isKnown = `(wake_at <= ? or agent in (${names.map(() => "?").join()}))`;
  // Each half by an index of its own, which the plus signs leave to it: runs that wait for people are not gone through.
  return database.all(
    `select id, owner, wake_at from agent_runs where ended_at is null and wake_at <= ?
     and (owner is null or owner <> ?) and ${isKnown}
     union all select id, owner, wake_at from agent_runs where +ended_at is null and owner > '' and +wake_at > ?
     and owner <> ? and ${isKnown} order by wake_at limit ?`,
    now,
    owner,
    before,
    ...names,
    // Of what is due already the first half tells.
    now + Math.max(0, longest),
    owner,
    before,
    ...names,
    most,
  ).map((row) => ({ id: textOf(row, "id"), isOwned: row["owner"] !== null }));
}

/** The ids of runs that nobody has, and that should be over. */
export function lateRuns(database: RunsDatabase, now: number, most: number): readonly string[] {
  return database.all(
    `select id from agent_runs where ended_at is null and owner is null and wake_at <= ? and deadline <= ?
     order by wake_at limit ?`,
    now,
    now,
    most,
  ).map((row) => textOf(row, "id"));
}

/** When somebody has to look at one of them next, after a time; undefined: never by themselves. */
export function nextWake(database: RunsDatabase, after: number = -1): number | undefined {
  const row =
    database.all("select min(wake_at) as next from agent_runs where ended_at is null and wake_at > ?", after)[0];
  return row && optionalNumber(row, "next");
}

/** When the first one ended of those that are kept; undefined where none has. */
export function oldestEnd(database: RunsDatabase): number | undefined {
  const row = database.all("select min(ended_at) as oldest from agent_runs where ended_at is not null")[0];
  return row && optionalNumber(row, "oldest");
}

/** Keeps what has changed of a run. */
export function saveRun(database: RunsDatabase, run: RunRow): void {
  database.run(
    `update agent_runs set state = ?, updated_at = ?, ended_at = ?, steps = ?, input_tokens = ?, output_tokens = ?,
     sequence = ?, keys = ?, bytes = ?, owner = ?, epoch = ?, wake_at = ?, resumes = ? where id = ?`,
    run.state,
    run.updatedAt,
    run.endedAt ?? null,
    run.steps,
    run.inputTokens,
    run.outputTokens,
    run.sequence,
    run.keys,
    run.bytes,
    run.owner ?? null,
    run.epoch,
    run.wakeAt ?? null,
    run.resumes,
    run.id,
  );
}

/** Keeps what has changed of a run while it goes on. Where that is not more than how far it is, no index is touched. */
export function saveProgress(database: RunsDatabase, before: RunRow, run: RunRow): void {
  const isSame = before.state === run.state && before.owner === run.owner && before.epoch === run.epoch &&
    before.wakeAt === run.wakeAt && before.endedAt === run.endedAt;
  if (!isSame) return saveRun(database, run);
  database.run(
    `update agent_runs set updated_at = ?, steps = ?, input_tokens = ?, output_tokens = ?, sequence = ?, keys = ?, bytes = ?,
     resumes = ? where id = ?`,
    run.updatedAt,
    run.steps,
    run.inputTokens,
    run.outputTokens,
    run.sequence,
    run.keys,
    run.bytes,
    run.resumes,
    run.id,
  );
}

/** The runs that a process holds, with their epochs. One may be damaged: then its epoch is nobody's. */
export function ownedRuns(database: RunsDatabase, owner: string): ReadonlyMap<string, unknown> {
  const rows = database.all("select id, epoch from agent_runs where owner = ?", owner);
  return new Map(rows.map((row) => [textOf(row, "id"), row["epoch"]]));
}

/** Puts the end of all leases of a process off. */
export function renewLeases(database: RunsDatabase, owner: string, until: number): void {
  database.run("update agent_runs set wake_at = ? where owner = ?", until, owner);
}

/** Has nobody look at a run before a time. */
export function postponeRun(database: RunsDatabase, id: string, until: number): void {
  database.run("update agent_runs set wake_at = ? where id = ? and ended_at is null", until, id);
}

/** Makes anybody's what could not be kept, and was left for that. It is not read: it may be damaged. */
export function releaseRun(database: RunsDatabase, id: string, now: number): void {
  database.run("update agent_runs set owner = null, wake_at = ?, resumes = resumes + 1 where id = ?", now, id);
}

/** When a run ended; undefined where it has not, or there is none. It may be damaged. */
export function endOf(database: RunsDatabase, id: string): number | undefined {
  const row = database.all("select ended_at from agent_runs where id = ?", id)[0];
  return row && optionalNumber(row, "ended_at");
}

/** Whether there is a run of this id. It may be damaged. */
export function hasRun(database: RunsDatabase, id: string): boolean {
  return database.all("select 1 as one from agent_runs where id = ?", id).length > 0;
}

/** Deletes all that is kept of a run. */
export function deleteRun(database: RunsDatabase, id: string): void {
  for (const table of tables) database.run(`delete from ${table} where run = ?`, id);
  database.run("delete from agent_runs where id = ?", id);
}

/** Runs that ended before, or that are more than are kept: oldest first. */
export function outdatedRuns(
  database: RunsDatabase,
  options: { before: number; kept: number; most: number },
): { readonly id: string; readonly endedAt: number }[] {
  const { before, kept, most } = options;
  const superfluous = countOf(database, "select count(*) as count from agent_runs where ended_at is not null") - kept;
  const rows = database.all(
    "select id, ended_at from agent_runs where ended_at is not null order by ended_at, created_at limit ?",
    most,
  );
  return rows.map((row) => ({ id: textOf(row, "id"), endedAt: numberOf(row, "ended_at") }))
    .filter(({ endedAt }, at) => at < superfluous || endedAt < before);
}

function countOf(database: RunsDatabase, sql: string): number {
  const row = database.all(sql)[0];
  return row ? numberOf(row, "count") : 0;
}

function toRun(row: SqlRow): RunRow {
  const state = row["state"];
  if (!isRunState(state)) {
    throw new DamagedError(`Cannot read the database of runs: there is no state ${String(state)}`);
  }
  return {
    id: textOf(row, "id"),
    agent: textOf(row, "agent"),
    principal: textOf(row, "principal"),
    state,
    createdAt: numberOf(row, "created_at"),
    updatedAt: numberOf(row, "updated_at"),
    endedAt: optionalNumber(row, "ended_at"),
    deadline: optionalNumber(row, "deadline"),
    steps: numberOf(row, "steps"),
    inputTokens: numberOf(row, "input_tokens"),
    outputTokens: numberOf(row, "output_tokens"),
    sequence: numberOf(row, "sequence"),
    keys: numberOf(row, "keys"),
    bytes: numberOf(row, "bytes"),
    owner: optionalText(row, "owner"),
    epoch: numberOf(row, "epoch"),
    wakeAt: optionalNumber(row, "wake_at"),
    resumes: numberOf(row, "resumes"),
  };
}
