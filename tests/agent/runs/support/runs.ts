/**
 * What tests of runs share.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { DurableRuns, RunEvent, RunRecord, Runs, RunsOptions, RunState } from "../../../../src/agent/mod.ts";
import type { Clock, SqlDatabase } from "../../../../src/ports.ts";
import { emptyDatabase } from "./database.ts";

/** What a run is started with in tests. */
export const start = { agent: "agent", principal: "ada", input: "go" } as const;

/** Counts calls by their key. */
export class Ledger {
  readonly counts: Map<string, number> = new Map();

  readonly call = (key: string): Promise<string> => {
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    return Promise.resolve("ok");
  };
}

/** All events of a run until its last. */
export async function eventsOf(runs: Runs, id: string, after = 0): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of runs.events(id, { after })) events.push(event);
  return events;
}

/** Sees that nothing is missing, nothing is there twice, and one end is the last. */
export function checkEvents(events: readonly RunEvent[]): void {
  assertEquals(events.map(({ sequence }) => sequence), events.map((_, at) => at + 1));
  const ends = events.filter(({ event: { type } }) => ["succeeded", "failed", "cancelled"].includes(type));
  assertEquals(ends.map(({ sequence }) => sequence), [events.length], "one end, and it is the last");
  const others = events.map(({ event }) => event).filter(({ type }) => type !== "text").map((event) =>
    JSON.stringify(event)
  );
  assertEquals(new Set(others).size, others.length, "nothing is told twice");
}

/** Waits until a run is in a state. */
export async function reach(runs: Runs, id: string, state: RunState, limit = 20_000): Promise<RunRecord> {
  const until = Date.now() + limit;
  for (;;) {
    const run = await runs.get(id);
    if (run?.state === state) return run;
    if (Date.now() > until || run?.end) {
      throw new Error(`The run is ${run?.state} (${JSON.stringify(run)}), not ${state}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until a run that waits was given back: whoever goes on with it begins it again. */
export async function untilLeft(database: SqlDatabase, id: string): Promise<void> {
  for (const until = Date.now() + 20_000; Date.now() < until;) {
    if (database.all("select owner from agent_runs where id = ?", id)[0]?.["owner"] === null) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`The run ${id} was not given back`);
}

/** The time of a clock, for a process whose timers do not come. */
export function stillClock(clock: Clock): Clock {
  return { now: () => clock.now(), monotonic: () => clock.monotonic(), schedule: () => () => {} };
}

/** So much time of a clock. */
export function wait(clock: Clock, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void clock.schedule(resolve, milliseconds));
}

/** What tests seal with. */
export const secret = "a secret of the tests alone";

/** Runs over an empty database. */
export async function withRuns(
  options: Omit<RunsOptions, "database">,
  use: (runs: DurableRuns) => Promise<void>,
): Promise<void> {
  const database = await emptyDatabase();
  const runs = createRuns({ database, watchdog: 500, ...options });
  try {
    await use(runs);
  } finally {
    await runs.close();
    database.close?.();
  }
}
