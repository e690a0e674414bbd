/**
 * What changes a run as a whole, each within one transaction: answers, ends.
 *
 * @module
 */
import { McpError } from "../../protocol/errors.ts";
import type { AgentAnswer, AgentEnd } from "../loop/seam.ts";
import { actOf, nextRunState, waitingState } from "./states.ts";
import { appendEvents, type Told } from "./tables/events.ts";
import { expiredQuestions, forgetLiveQuestions, nextExpiry, openQuestions, writeAnswer } from "./tables/questions.ts";
import { type RunRow, saveRun } from "./tables/runs.ts";
import type { RunsDatabase } from "./tables/sealing.ts";
import { loseIntents } from "./tables/steps.ts";
import { writeText } from "./tables/texts.ts";

/** The key of the event of a question, whoever tells it. */
export function questionKey(id: string): string {
  return `question:${id}`;
}

/** The key of the event of an answer, whoever tells it. */
export function answerKey(id: string): string {
  return `answered:${id}`;
}

/**
 * Ends a run: nobody can write to it from now on. Call it within a transaction.
 *
 * @throws {McpError} When it cannot end so: it is over.
 */
export function endRun(database: RunsDatabase, run: RunRow, end: AgentEnd, now: number): RunRow {
  const state = nextRunState(run.state, actOf(end));
  if (state === undefined) throw new McpError(`Cannot end the run ${run.id} as ${end.type}: it is ${run.state}`);
  loseIntents(database, run.id, now);
  const told: Told = { key: "end", event: end, at: now };
  // The end is kept whatever the limits say.
  const appended = appendEvents(database, run, [told], undefined);
  writeText(database, { run: run.id, kind: "end", name: "" }, JSON.stringify(end));
  const ended: RunRow = {
    ...appended,
    state,
    steps: end.steps,
    inputTokens: end.usage.inputTokens,
    outputTokens: end.usage.outputTokens,
    updatedAt: now,
    endedAt: now,
    owner: undefined,
    epoch: run.epoch + 1,
    wakeAt: undefined,
  };
  saveRun(database, ended);
  return ended;
}

/** An end from outside, with what was used so far. */
export function endFrom(run: RunRow, end: { cancelled: string } | { code: string; message: string }): AgentEnd {
  const rest = { usage: { inputTokens: run.inputTokens, outputTokens: run.outputTokens }, steps: run.steps };
  if ("cancelled" in end) return { type: "cancelled", reason: end.cancelled, ...rest };
  return { type: "failed", error: end, ...rest };
}

/** Keeps an answer to an open question. Call it within a transaction. The run is not saved. */
export function answerQuestion(
  database: RunsDatabase,
  run: RunRow,
  id: string,
  { answer, now }: { answer: AgentAnswer; now: number },
): RunRow {
  const length = writeAnswer(database, { run: run.id, id, now }, answer);
  const event = { type: "answered", id, action: answer.action } as const;
  const told = appendEvents(database, run, [{ key: answerKey(id), event, at: now }], undefined);
  const left = openQuestions(database, run.id);
  const isWaiting = run.state === "needs_input" || run.state === "needs_decision";
  return {
    ...told,
    bytes: told.bytes + length,
    state: isWaiting ? waitingState(left) : run.state,
    // Who holds it notices; otherwise it is time to go on.
    wakeAt: run.owner === undefined ? now : run.wakeAt,
  };
}

/** Ends questions whose time is over: as a no. The run is not saved. */
export function expireQuestions(database: RunsDatabase, run: RunRow, now: number): RunRow {
  let changed = run;
  for (const id of expiredQuestions(database, run.id, now)) {
    changed = answerQuestion(database, changed, id, { answer: { action: "cancel" }, now });
  }
  return changed;
}

/** Ends the questions of calls that died with their process: whoever reads events hears that nobody waits. The run is not saved. */
export function endLiveQuestions(database: RunsDatabase, run: RunRow, now: number): RunRow {
  const told = forgetLiveQuestions(database, run.id, questionKey).map((id): Told => ({
    // Asked again under the same id, it has an answer of its own.
    key: `forgotten:${run.epoch}:${id}`,
    event: { type: "answered", id, action: "cancel" },
    at: now,
  }));
  return appendEvents(database, run, told, undefined);
}

/** When a run that waits has to be looked at: undefined for never. */
export function wakeOf(
  database: RunsDatabase,
  run: RunRow,
  times: readonly (number | undefined)[],
): number | undefined {
  const known = [...times, nextExpiry(database, run.id), run.deadline].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
