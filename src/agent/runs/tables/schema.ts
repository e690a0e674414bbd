/**
 * The tables in which runs are kept, and the way from older ones to them.
 *
 * @module
 */
import type { SqlDatabase } from "../../../ports.ts";
import { McpError } from "../../../protocol/errors.ts";
import { numberOf } from "./cells.ts";

/** The statements that lead from one version to the next; the first makes version 1 of nothing. Only ever added to. */
const migrations: readonly (readonly string[])[] = [[
  `create table agent_runs (
    id text primary key, agent text not null, principal text not null, state text not null,
    created_at integer not null, updated_at integer not null, ended_at integer, deadline integer,
    steps integer not null default 0, input_tokens integer not null default 0, output_tokens integer not null default 0,
    sequence integer not null default 0, keys integer not null default 0, bytes integer not null default 0,
    owner text, epoch integer not null default 0, wake_at integer, resumes integer not null default 0
  ) without rowid`,
  `create index agent_runs_age on agent_runs (created_at)`,
  `create index agent_runs_principal on agent_runs (principal, created_at)`,
  `create index agent_runs_wake on agent_runs (wake_at) where ended_at is null`,
  `create index agent_runs_owner on agent_runs (owner) where owner is not null`,
  `create index agent_runs_ended on agent_runs (ended_at) where ended_at is not null`,
  `create table agent_steps (
    run text not null, name text not null, state text not null, repeatable integer not null, arguments_hash text,
    attempt integer not null, at integer not null, primary key (run, name)
  ) without rowid`,
  `create table agent_events (
    run text not null, sequence integer not null, at integer not null, event text, primary key (run, sequence)
  ) without rowid`,
  `create table agent_event_keys (run text not null, key text not null, primary key (run, key)) without rowid`,
  `create table agent_questions (
    run text not null, id text not null, kind text not null, live integer not null, expires_at integer,
    answered_at integer, asked integer not null, primary key (run, id)
  ) without rowid`,
  `create table agent_signals (
    run text not null, number integer not null, type text not null, primary key (run, number)
  ) without rowid`,
  // Every long text lies here in parts: a row of a Durable Object holds 2 MB.
  `create table agent_texts (
    run text not null, kind text not null, name text not null, part integer not null, text text not null,
    primary key (run, kind, name, part)
  ) without rowid`,
], [
  `create table agent_keys (run text primary key, secret text not null, key blob not null) without rowid`,
  // What keys are derived with, and the name of the secret in force: null while nothing is sealed.
  `alter table agent_schema add column salt blob`,
  `alter table agent_schema add column secret text`,
]];

/** The tables that hold something of a run. */
export const tables: readonly string[] = [
  "agent_steps",
  "agent_events",
  "agent_event_keys",
  "agent_questions",
  "agent_signals",
  "agent_texts",
  "agent_keys",
];

/**
 * Brings a database to the newest version.
 *
 * @throws {McpError} When it was written by a newer program than this one.
 */
export function migrate(database: SqlDatabase, steps: readonly (readonly string[])[] = migrations): void {
  database.transaction(() => {
    database.run("create table if not exists agent_schema (version integer not null)");
    const row = database.all("select version from agent_schema")[0];
    const version = row ? numberOf(row, "version") : 0;
    if (version > steps.length) {
      throw new McpError(
        `Cannot use the database of runs: its version is ${version}, expected at most ${steps.length}. A newer program wrote it`,
      );
    }
    if (version === steps.length) return;
    for (const statements of steps.slice(version)) for (const statement of statements) database.run(statement);
    if (row) database.run("update agent_schema set version = ?", steps.length);
    else database.run("insert into agent_schema (version) values (?)", steps.length);
  });
}
