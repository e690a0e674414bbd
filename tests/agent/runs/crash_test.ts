/** Processes that die in the middle, played in memory: at each labelled point, at each operation of the storage, with other clocks. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import type { DurableRuns, RunRecord } from "../../../src/agent/mod.ts";
import { systemRandom } from "../../../src/ports.ts";
import type { SqlDatabase } from "../../../src/ports.ts";
import { jumpingClock } from "../../support/clocks/jumping_clock.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { describeKinds, type Kind } from "../../support/runs/describe_kinds.ts";
import { emptyDatabase, meddleWith, skip } from "./support/database.ts";
import { checkEvents, eventsOf, Ledger, reach, start, stillClock } from "./support/runs.ts";
import { agentOf, createScriptedAgent } from "./support/scripted_agent.ts";
import { findPoints, type Point, points } from "./support/points.ts";

const rounds = 3;

/** Sees that nothing is lost, nothing was done twice, and every doubt is reported. */
function checkRun(run: RunRecord | undefined, ledger: Ledger): void {
  assert(run?.end?.type === "succeeded", JSON.stringify(run));
  const outcomes: string[] = JSON.parse(run.end.text).filter((text: string) => text !== "accept");
  assertEquals(outcomes.length, rounds);
  for (const [at, outcome] of outcomes.entries()) {
    const seen = ledger.counts.get(`${run.id}/${at + 1}`) ?? 0;
    assert(seen <= 1, `call ${at + 1} was made ${seen} times`);
    if (outcome === "ok") assertEquals(seen, 1);
    assertEquals(run.unknown.includes(`tool:${at + 1}`), outcome === "unknown");
  }
}

/** A process that can die: from then on nothing that it does reaches the database. */
function mortal(database: SqlDatabase): { database: SqlDatabase; die(): void; isDead: boolean } {
  const process = {
    isDead: false,
    die: () => void (process.isDead = true),
    database: meddleWith(database, {
      before() {
        if (process.isDead) throw new Error("the process is dead");
      },
    }),
  };
  return process;
}

describeKinds("a process that dies", ({ createRuns, isSealed }) => {
  for (const point of points) {
    test(`${point}: nothing is lost, and nothing is done twice`, { skip }, async () => {
      for (let nth = 1; nth <= 3; nth++) await dieAt(createRuns, point, nth);
    });
  }

  test(
    "at the n-th operation of a storage that fails once, for each n: a run is refused, or it ends",
    { skip },
    async () => {
      for (const spoiled of ["once", "for good"] as const) {
        const operations = await failAt(createRuns, Infinity, spoiled);
        assert(operations > 60, `${operations} operations`);
        for (let nth = 1; nth <= operations; nth += (spoiled === "once" ? 1 : 7) * (isSealed ? 5 : 1)) {
          await failAt(createRuns, nth, spoiled);
        }
      }
    },
  );

  test("a clock that jumps an hour ahead or back neither loses a run nor doubles a call", { skip }, async () => {
    for (const jump of [3_600_000, -3_600_000]) {
      const database = await emptyDatabase();
      const ledger = new Ledger();
      const agent = createScriptedAgent({ rounds, call: ledger.call, askAfter: 2 });
      const virtual = new VirtualClock();
      const clock = jumpingClock(virtual);
      const dead = mortal(database);
      const one = createRuns({ database: dead.database, agents: { agent }, clock, watchdog: 6_000 });
      const { id } = await one.start(start);
      await virtual.settle();
      dead.die();
      clock.ahead = jump;
      const two = createRuns({ database, agents: { agent }, clock, watchdog: 6_000 });
      await two.resume();
      await virtual.advance(6_000);
      assertEquals((await two.get(id))?.state, "needs_input", `a jump of ${jump}`);
      clock.ahead = -jump;
      await two.answer(id, "go on after 2?", { action: "accept" });
      await virtual.advance(6_000);
      checkRun(await two.get(id), ledger);
      checkEvents(await eventsOf(two, id));
      await Promise.all([one.close(), two.close()]);
      database.close?.();
    }
  });

  test("who stood still for too long can write nothing any more", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const release: (() => void)[] = [];
    const ends: unknown[] = [];
    const agent = agentOf(async ({ steps, emit }) => {
      try {
        const result = await steps.do(
          "call",
          {},
          () => new Promise<string>((resolve) => release.push(() => resolve("late"))),
        );
        emit("late", { type: "step", step: 7 });
        return result;
      } catch (error) {
        ends.push(error instanceof Error && error.name);
        if (error instanceof Error && error.name === "StepUnknownError") return "unknown";
        throw error;
      }
    });
    // A process whose timers do not come.
    const still = stillClock(clock);
    const one = createRuns({ database, agents: { agent }, clock: still, watchdog: 5_000 });
    const { id } = await one.start(start);
    await clock.settle();
    assertEquals(release.length, 1);
    const two = createRuns({ database, agents: { agent }, clock, watchdog: 5_000 });
    await two.resume();
    await clock.advance(5_000);
    release[0]?.();
    await clock.settle();
    const run = await two.get(id);
    assertEquals([run?.end?.type === "succeeded" && run.end.text, run?.unknown], ["unknown", ["call"]]);
    assertEquals(ends, ["StepUnknownError", "RunLeftError"]);
    const events = await eventsOf(two, id);
    assertEquals(events.map(({ event: { type } }) => type), ["succeeded"]);
    await Promise.all([one.close(), two.close()]);
    database.close?.();
  });

  test("closing lets what is under way end, and the next process goes on at once", { skip }, async () => {
    const database = await emptyDatabase();
    const ledger = new Ledger();
    const slow = (key: string) => new Promise<string>((resolve) => setTimeout(() => resolve(ledger.call(key)), 30));
    const agent = createScriptedAgent({ rounds, call: slow });
    const options = { database, agents: { agent }, watchdog: 600_000 };
    let runs: DurableRuns = createRuns(options);
    const { id } = await runs.start(start);
    for (let times = 0; times < 3; times++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      await runs.close();
      runs = createRuns(options);
      await runs.resume();
    }
    await reach(runs, id, "succeeded");
    const run = await runs.get(id);
    checkRun(run, ledger);
    assertEquals(run?.unknown, []);
    await runs.close();
    database.close?.();
  });

  test("a run that kills each process that takes it is given up in the end", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let begun = 0;
    let current: { die(): void } | undefined;
    const agent = agentOf(() => {
      begun++;
      current?.die();
      return new Promise(() => {});
    });
    const all: DurableRuns[] = [];
    const begin = async (): Promise<DurableRuns> => {
      const process = current = mortal(database);
      const runs = createRuns({
        database: process.database,
        agents: { agent },
        clock,
        watchdog: 1_000,
        limits: { resumes: 4 },
      });
      all.push(runs);
      await runs.resume().catch(() => {});
      return runs;
    };
    const { id } = await (await begin()).start(start);
    for (let times = 0; times < 6; times++) {
      await clock.advance(1_000);
      await begin();
    }
    const run = await createRuns({ database, agents: {} }).get(id);
    assertEquals([begun, run?.end?.type === "failed" && run.end.error.code], [5, "internal"]);
    await Promise.all(all.map((runs) => runs.close().catch(() => {})));
    database.close?.();
  });

  test(
    "a run whose processes died five times in a row waits longer and longer, up to ten intervals",
    { skip },
    async () => {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      const begun: number[] = [];
      let current: { die(): void; isDead: boolean } | undefined;
      const agent = agentOf(() => {
        begun.push(clock.now());
        current?.die();
        return new Promise(() => {});
      });
      const random = { fraction: () => 0.5, bytes: systemRandom.bytes };
      const all: DurableRuns[] = [];
      const begin = async (): Promise<DurableRuns> => {
        const process = current = mortal(database);
        const limits = { resumes: 11 };
        const runs = createRuns({
          database: process.database,
          agents: { agent },
          clock,
          random,
          watchdog: 1_000,
          limits,
        });
        all.push(runs);
        await runs.resume().catch(() => {});
        return runs;
      };
      const { id } = await (await begin()).start(start);
      const reader = createRuns({ database, agents: {} });
      for (let ticks = 0; ticks < 500 && !(await reader.get(id))?.end; ticks++) {
        if (current?.isDead) await begin();
        await clock.advance(100);
      }
      const gaps = begun.slice(1).map((time, at) => time - (begun[at] ?? 0));
      // Half of 1, 2, 4, 8, 10 and 10 intervals, and what a dead process's lease was.
      const waits = [0, 0, 0, 0, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000];
      assertEquals(gaps.length, waits.length, JSON.stringify(gaps));
      for (const [at, wait] of waits.entries()) {
        const gap = gaps[at] ?? 0;
        assert(gap >= wait && gap <= wait + 1_300, `the ${at + 1}. time it went on after ${gap} ms, not ${wait}`);
      }
      const end = (await reader.get(id))?.end;
      assertEquals(end?.type === "failed" && end.error.code, "internal");
      await clock.until(Promise.all([reader, ...all].map((runs) => runs.close().catch(() => {}))));
      database.close?.();
    },
  );

  test("a run that kills its processes does not take the others with it", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let current: { die(): void; isDead: boolean } | undefined;
    const agents = {
      poison: agentOf(() => {
        current?.die();
        return new Promise(() => {});
      }),
      innocent: agentOf(({ steps }) =>
        steps.do(
          "slow",
          { repeatable: true },
          () => new Promise<string>((resolve) => void clock.schedule(() => resolve("done"), 300)),
        )
      ),
    };
    const options = { agents, clock, watchdog: 1_000, limits: { resumes: 20 } };
    const reader = createRuns({ database, agents: {} });
    const ids = ["innocent_run_number_1", "innocent_run_number_2", "the_run_that_is_poison"];
    const closing: Promise<void>[] = [];
    const statesNow = async (): Promise<unknown[]> => {
      return await Promise.all(ids.map(async (id) => (await reader.get(id))?.state));
    };
    for (let times = 0; times < 150; times++) {
      const process = current = mortal(database);
      const runs = createRuns({ ...options, database: process.database });
      for (const id of times === 0 ? ids : []) {
        await runs.start({ ...start, id, agent: id.startsWith("innocent") ? "innocent" : "poison" }).catch(() => {});
      }
      await runs.resume().catch(() => {});
      for (let looks = 0; looks < 12 && !process.isDead; looks++) await clock.advance(1_000);
      process.die();
      closing.push(runs.close().catch(() => {}));
      await clock.advance(1_000);
      if (!(await statesNow()).includes("running")) break;
    }
    assertEquals(await statesNow(), ["succeeded", "succeeded", "failed"]);
    await clock.until(Promise.all(closing));
    await reader.close();
    database.close?.();
  });
}, { isLong: true });

/** Dies when a point is reached for the n-th time; another process goes on. */
async function dieAt(createRuns: Kind["createRuns"], point: Point, nth: number): Promise<void> {
  const database = await emptyDatabase();
  const clock = new VirtualClock();
  const ledger = new Ledger();
  const process = mortal(database);
  let left = nth;
  const reached = (now: Point): void => {
    if (now === point && --left === 0) process.die();
    if (process.isDead) throw new Error("the process is dead");
  };
  const watched = meddleWith(process.database, findPoints(reached));
  const call = async (key: string): Promise<string> => {
    const answer = await ledger.call(key);
    if (!process.isDead) reached("during the call");
    return answer;
  };
  const script = { rounds, askAfter: 2 };
  const one = createRuns({
    database: watched,
    agents: { agent: createScriptedAgent({ ...script, call }) },
    clock,
    watchdog: 5_000,
    onAlarm: () => reached("alarm arm"),
  });
  const id = "a_run_that_is_cut_somewhere";
  const accepted = await one.start({ ...start, id }).then(() => true, () => false);
  await clock.advance(100);
  if (!process.isDead) await one.answer(id, "go on after 2?", { action: "accept" }).catch(() => {});
  await clock.advance(100);
  process.die();
  const two = createRuns({
    database,
    agents: { agent: createScriptedAgent({ ...script, call: ledger.call }) },
    clock,
    watchdog: 5_000,
  });
  await two.resume();
  await clock.advance(5_000);
  await two.answer(id, "go on after 2?", { action: "accept" });
  await clock.advance(5_000);
  const run = await two.get(id);
  if (run || accepted) {
    checkRun(run, ledger);
    checkEvents(await eventsOf(two, id));
    if (point === "after the intent" || point === "after the answer") assert((run?.unknown.length ?? 0) <= 1);
  } else assertEquals(ledger.counts.size, 0);
  await Promise.all([one.close().catch(() => {}), two.close()]);
  database.close?.();
}

/** Lets the n-th operation of the storage fail, alone or with all that follow; gives how many there were. */
async function failAt(createRuns: Kind["createRuns"], nth: number, spoiled: "once" | "for good"): Promise<number> {
  const database = await emptyDatabase();
  const clock = new VirtualClock();
  const ledger = new Ledger();
  let operations = 0;
  let isWell = false;
  const failing = meddleWith(database, {
    before() {
      operations++;
      const isBad = spoiled === "once" ? operations === nth : operations >= nth;
      if (isBad && !isWell) throw new Error("the disk is on fire");
    },
  });
  const agent = createScriptedAgent({ rounds, call: ledger.call });
  const id = "a_run_on_a_bad_disk";
  let runs: DurableRuns | undefined;
  try {
    runs = createRuns({ database: failing, agents: { agent }, clock, watchdog: 5_000 });
    await runs.resume();
    await runs.start({ ...start, id });
    await clock.advance(1_000);
  } catch {
    // The run was refused, or the program could not start.
  }
  isWell = true;
  const needed = operations;
  runs ??= createRuns({ database, agents: { agent }, clock, watchdog: 5_000 });
  await runs.resume();
  for (let seconds = 0; seconds < 10 && !(await runs.get(id))?.end; seconds++) await clock.advance(1_000);
  const run = await runs.get(id);
  if (run) {
    checkRun(run, ledger);
    checkEvents(await eventsOf(runs, id));
  } else assertEquals(ledger.counts.size, 0, "a run that was refused calls nothing");
  await runs.close();
  database.close?.();
  return needed;
}
