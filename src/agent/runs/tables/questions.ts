/**
 * Questions to people, their answers, and what else is sent to a run.
 *
 * @module
 */
import type { AgentAnswer, AgentQuestion } from "../../loop/seam.ts";
import { numberOf, optionalNumber, textOf } from "./cells.ts";
import type { RunsDatabase } from "./sealing.ts";
import { readJson, writeText } from "./texts.ts";

/** What is known of a question. */
export interface QuestionRow {
  readonly kind: AgentQuestion["kind"];
  readonly expiresAt: number | undefined;
  readonly answeredAt: number | undefined;
}

/** One question; undefined where it was not asked. */
export function findQuestion(database: RunsDatabase, run: string, id: string): QuestionRow | undefined {
  const row = database.all(
    "select kind, expires_at, answered_at from agent_questions where run = ? and id = ?",
    run,
    id,
  )[0];
  return row && {
    kind: toKind(textOf(row, "kind")),
    expiresAt: optionalNumber(row, "expires_at"),
    answeredAt: optionalNumber(row, "answered_at"),
  };
}

/** Keeps a question. */
export function insertQuestion(
  database: RunsDatabase,
  place: { readonly run: string; readonly isLive: boolean },
  question: AgentQuestion,
): number {
  const { run, isLive } = place;
  const text = JSON.stringify(question);
  const { id, kind, expiresAt } = question;
  const count = database.all("select count(*) as count from agent_questions where run = ?", run)[0];
  database.run(
    "insert into agent_questions (run, id, kind, live, expires_at, asked) values (?, ?, ?, ?, ?, ?)",
    run,
    id,
    kind,
    isLive ? 1 : 0,
    expiresAt ?? null,
    count ? numberOf(count, "count") : 0,
  );
  writeText(database, { run, kind: "question", name: id }, text);
  return text.length;
}

/** Questions without an answer, oldest first. */
export function openQuestions(database: RunsDatabase, run: string): AgentQuestion[] {
  const rows = database.all(
    "select id from agent_questions where run = ? and answered_at is null order by asked",
    run,
  );
  return rows.map((row) => readJson(database, run, "question", textOf(row, "id")));
}

/** The ids of questions that wait no more, oldest first: those with an answer, all of them where the run is over. */
export function closedQuestions(database: RunsDatabase, run: string, isOver: boolean): string[] {
  const rows = database.all(
    "select id from agent_questions where run = ? and (answered_at is not null or ? = 1) order by asked",
    run,
    isOver ? 1 : 0,
  );
  return rows.map((row) => textOf(row, "id"));
}

/**
 * Forgets the open questions of calls that died with their process: a call that is made again asks again, and that is told again.
 *
 * @param keyOf The key of the event of a question.
 * @returns Their ids.
 */
export function forgetLiveQuestions(database: RunsDatabase, run: string, keyOf: (id: string) => string): string[] {
  const rows = database.all("select id from agent_questions where run = ? and answered_at is null and live = 1", run);
  for (const row of rows) {
    const id = textOf(row, "id");
    database.run("delete from agent_questions where run = ? and id = ?", run, id);
    database.run("delete from agent_texts where run = ? and kind = 'question' and name = ?", run, id);
    database.run("delete from agent_event_keys where run = ? and key = ?", run, keyOf(id));
  }
  return rows.map((row) => textOf(row, "id"));
}

/** Questions without an answer whose time is over. */
export function expiredQuestions(database: RunsDatabase, run: string, now: number): string[] {
  const rows = database.all(
    "select id from agent_questions where run = ? and answered_at is null and expires_at <= ? order by asked",
    run,
    now,
  );
  return rows.map((row) => textOf(row, "id"));
}

/** When the first of the open questions ends by itself. */
export function nextExpiry(database: RunsDatabase, run: string): number | undefined {
  const row = database.all(
    "select min(expires_at) as next from agent_questions where run = ? and answered_at is null",
    run,
  )[0];
  return row && optionalNumber(row, "next");
}

/** Keeps an answer. */
export function writeAnswer(
  database: RunsDatabase,
  place: { run: string; id: string; now: number },
  answer: AgentAnswer,
): number {
  const { run, id, now } = place;
  const text = JSON.stringify(answer);
  database.run("update agent_questions set answered_at = ? where run = ? and id = ?", now, run, id);
  writeText(database, { run, kind: "answer", name: id }, text);
  return text.length;
}

/** An answer that was given; undefined while there is none. */
export function readAnswer(database: RunsDatabase, run: string, id: string): AgentAnswer | undefined {
  const question = findQuestion(database, run, id);
  return question?.answeredAt === undefined ? undefined : readJson(database, run, "answer", id);
}

/** Keeps what was sent to a run. */
export function insertSignal(database: RunsDatabase, run: string, type: string, payload: unknown): number {
  const row = database.all("select max(number) as last from agent_signals where run = ?", run)[0];
  const number = (row && optionalNumber(row, "last") || 0) + 1;
  const text = JSON.stringify(payload ?? null);
  database.run("insert into agent_signals (run, number, type) values (?, ?, ?)", run, number, type);
  writeText(database, { run, kind: "signal", name: String(number) }, text);
  return text.length;
}

/** Takes the oldest of a type out of what was sent; undefined where there is none. */
export function takeSignal(
  database: RunsDatabase,
  run: string,
  type: string,
): { readonly payload: unknown } | undefined {
  const row = database.all(
    "select number from agent_signals where run = ? and type = ? order by number limit 1",
    run,
    type,
  )[0];
  if (!row) return undefined;
  const number = numberOf(row, "number");
  const payload: unknown = readJson(database, run, "signal", String(number));
  database.run("delete from agent_signals where run = ? and number = ?", run, number);
  database.run("delete from agent_texts where run = ? and kind = 'signal' and name = ?", run, String(number));
  return { payload };
}

/** Whether something waits for each type. */
export function hasSignal(database: RunsDatabase, run: string, type: string): boolean {
  return database.all("select 1 as one from agent_signals where run = ? and type = ? limit 1", run, type).length > 0;
}

function toKind(text: string): AgentQuestion["kind"] {
  return text === "approval" || text === "elicitation" || text === "sampling" ? text : "decision";
}
