/** Runs that are started while others start, delete or begin the same ones. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createRuns } from "../../../../src/agent/mod.ts";
import { deleteRun, insertRun } from "../../../../src/agent/runs/tables/runs.ts";
import { openRunsDatabase } from "../../../../src/agent/runs/tables/sealing.ts";
import { systemRandom } from "../../../../src/ports.ts";
import { forgetTenant } from "../../../../src/runner/tenants/forget.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { emptyDatabase, meddleWith, skip } from "../support/database.ts";
import { eventsOf, Ledger, start } from "../support/runs.ts";
import { agentOf, ask } from "../support/scripted_agent.ts";

/** What another process commits: deletes a run that is over and starts one of the same id. */
function startAnew(database: Awaited<ReturnType<typeof emptyDatabase>>, id: string, now: number): void {
  const plain = openRunsDatabase(database, { secrets: [], tenant: "", random: systemRandom });
  deleteRun(plain, id);
  insertRun(plain, {
    id,
    agent: "asking",
    principal: "ada",
    task: { input: "go" },
    deadline: undefined,
    now,
    wakeAt: now,
  });
}

describe("runs that are started", () => {
  test("who starts a run a second time is told that it is kept when it is", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let fail = (_: Error): void => {};
    const onAlarm = (): Promise<void> => new Promise((_, reject) => fail = reject);
    const runs = createRuns({ database, agents: { agent: agentOf(() => Promise.resolve("done")) }, clock, onAlarm });
    const id = "a_run_that_is_started_twice";
    const first = runs.start({ ...start, id }).then(() => "accepted", () => "refused");
    const second = runs.start({ ...start, id }).then(() => "accepted", () => "refused");
    await clock.settle();
    fail(new Error("no alarm"));
    const outcomes = await Promise.all([first, second]);
    const run = await runs.get(id);
    assert(!outcomes.includes("accepted") || run, `${outcomes}: ${run}`);
  });

  test("a run that another process has begun is not deleted, and not done twice", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const ledger = new Ledger();
    let fail = (_: Error): void => {};
    let isWell = false;
    const onAlarm = (): Promise<void> => isWell ? Promise.resolve() : new Promise((_, reject) => fail = reject);
    const agent = agentOf(({ steps }) => steps.do("pay", {}, () => ledger.call("pay")));
    const agents = { agent };
    const one = createRuns({ database, agents, clock, watchdog: 500, onAlarm });
    const two = createRuns({ database, agents, clock, watchdog: 500 });
    await two.resume();
    const id = "a_run_with_a_late_alarm";
    const first = one.start({ ...start, id }).then(() => "accepted", () => "refused");
    await clock.advance(1_000);
    const before = (await two.get(id))?.state;
    fail(new Error("no alarm"));
    const outcome = await first;
    isWell = true;
    await one.start({ ...start, id });
    await clock.advance(1_000);
    await Promise.all([one.close(), two.close()]);
    assertEquals([before, outcome, ledger.counts.get("pay")], ["succeeded", "accepted", 1]);
  });

  test("no run is accepted while its alarm is being set", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let fail = (_: Error): void => {};
    let isWell = false;
    const onAlarm = (): Promise<void> => isWell ? Promise.resolve() : new Promise((_, reject) => fail = reject);
    const runs = createRuns({ database, agents: { agent: agentOf(() => new Promise(() => {})) }, clock, onAlarm });
    void runs.start(start).catch(() => {});
    let accepted = false;
    const second = runs.start(start).then(() => accepted = true, () => {});
    await clock.settle();
    assertEquals(accepted, false, "accepted, and no alarm was ever set");
    isWell = true;
    fail(new Error("no alarm"));
    await second;
    assertEquals([accepted, await runs.list()], [false, []]);
    await runs.close();
  });

  for (const what of ["alarm", "disk"] as const) {
    test(`who reads a run whose start fails (${what}) hears that there is none`, { skip }, async () => {
      const database = await emptyDatabase();
      let fail = (_: Error): void => {};
      let isWell = false;
      const pending = (): Promise<void> => isWell ? Promise.resolve() : new Promise((_, reject) => fail = reject);
      const agents = { agent: agentOf(() => Promise.resolve("done")) };
      const runs = createRuns({
        alone: true,
        agents,
        ...(what === "alarm"
          ? { database, onAlarm: pending }
          : { database: { ...meddleWith(database, {}), sync: pending } }),
      });
      const id = "a_run_of_the_callers_own";
      const started = assertRejects(() => runs.start({ ...start, id }), Error, `no ${what}`);
      // It is kept, and may be taken back.
      while (!await runs.get(id)) await new Promise((resolve) => setTimeout(resolve, 1));
      const read = eventsOf(runs, id);
      await new Promise((resolve) => setTimeout(resolve, 1));
      isWell = true;
      fail(new Error(`no ${what}`));
      await started;
      assertEquals([await read, await runs.get(id)], [[], undefined]);
      await runs.close();
      database.close?.();
    });
  }

  for (const how of ["tidy", "forget"] as const) {
    test(`${how} deletes no run that was started anew meanwhile`, { skip }, async () => {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      const agents = {
        agent: agentOf(() => Promise.resolve("done")),
        asking: agentOf(async (w) => (await ask(w, "well?")).action),
      };
      const id = "a_run_of_the_callers_own";
      const other = createRuns({ database, agents, clock });
      await other.start({ ...start, id });
      await clock.settle();
      assertEquals((await other.get(id))?.state, "succeeded");
      // Another process comes between the look for what is old and its deletion, or behind the first transaction of a `forget`.
      const gap = how === "tidy" ? "ended_at is not null order by" : "commit";
      let isAsked = false;
      let times = 0;
      const here = createRuns({
        database: meddleWith(database, {
          after(sql) {
            if (isAsked && sql.includes(gap) && times++ === 0) startAnew(database, id, clock.now());
          },
        }),
        agents,
        clock,
        limits: { kept: how === "tidy" ? 0 : 10 },
      });
      isAsked = true;
      await (how === "tidy" ? here.resume() : here.forget(id));
      const run = await other.get(id);
      await Promise.all([here.close(), other.close()]);
      assert(times > 0, "it has come between");
      assertEquals(run?.agent, "asking", "the new run is gone");
    });
  }

  test("a tenant that is forgotten leaves no run", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(async (w) => {
      const { action } = await ask(w, "well?");
      await w.steps.sleep("long", 3_600_000);
      return action;
    });
    const runs = createRuns({ database, agents: { agent }, clock });
    await runs.resume();
    const { id } = await runs.start(start);
    await clock.advance(100);
    assertEquals((await runs.get(id))?.state, "needs_input");
    const racing = Object.assign(Object.create(runs), {
      cancel: (...args: Parameters<typeof runs.cancel>) => runs.cancel(...args),
      countOpen: () => runs.countOpen?.(),
      list: async (options: Parameters<typeof runs.list>[0]) => {
        const found = await runs.list(options);
        if (options?.state === "running") await runs.answer(id, "well?", { action: "accept" });
        return found;
      },
    });
    const clear = { clear: () => Promise.resolve(), read: () => Promise.resolve([]) };
    const parts = {
      runs: () => racing,
      servers: { list: clear },
      approvals: clear,
      starts: clear,
      signIns: clear,
      pool: { drop: () => Promise.resolve() },
    };
    await forgetTenant(parts as never, "acme");
    const state = (await runs.get(id))?.state;
    await runs.close();
    assertEquals(state, "cancelled");
  });
});
