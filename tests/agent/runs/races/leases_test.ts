/** Who has a run, and for how long. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { Steps } from "../../../../src/agent/mod.ts";
import { systemRandom } from "../../../../src/ports.ts";
import { jumpingClock } from "../../../support/clocks/jumping_clock.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { emptyDatabase, meddleWith, skip } from "../support/database.ts";
import { start, stillClock, wait } from "../support/runs.ts";
import { agentOf, ask } from "../support/scripted_agent.ts";

/** Pays, which takes as long as `meanwhile`: what a run that was taken away cannot know of. */
async function pay(steps: Steps, meanwhile: () => Promise<unknown>): Promise<string> {
  const paid = steps.do("pay", {}, async () => {
    await meanwhile();
    return "paid";
  });
  return await paid.catch((error) => error.name === "StepUnknownError" ? "unknown" : Promise.reject(error));
}

describe("the lease of a run", () => {
  test("it begins when the lock was got, not when it was waited for", { skip }, async () => {
    const database = await emptyDatabase();
    const virtual = new VirtualClock();
    let shift = 0;
    const clock = {
      now: () => virtual.now() + shift,
      monotonic: () => virtual.monotonic() + shift,
      schedule: virtual.schedule.bind(virtual),
    };
    let isPaying = false;
    const watched = meddleWith(database, {
      before(sql) {
        if (sql !== "begin" || !isPaying) return;
        isPaying = false;
        // A third process has kept the file locked.
        shift += 4_000;
      },
    });
    const agent = agentOf(async ({ steps }) => {
      isPaying = true;
      return await pay(steps, () => two.resume());
    });
    const one = createRuns({ database: watched, agents: { agent }, clock });
    const two = createRuns({ database, agents: { agent }, clock });
    const { id } = await one.start(start);
    await virtual.advance(2_000);
    const run = await two.get(id);
    await Promise.all([one.close(), two.close()]);
    assertEquals([run?.end?.type === "succeeded" && run.end.text, run?.unknown], ["paid", []]);
  });

  test("processes with another watchdog do not take it away", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(({ steps }) => pay(steps, () => two.resume()));
    const one = createRuns({ database, agents: { agent }, clock, watchdog: 60_000 });
    const two = createRuns({ database, agents: { agent }, clock, watchdog: 5_000 });
    const { id } = await one.start(start);
    await clock.advance(2_000);
    const run = await two.get(id);
    await Promise.all([one.close(), two.close()]);
    assertEquals([run?.end?.type === "succeeded" && run.end.text, run?.unknown], ["paid", []]);
  });

  test("a write that is refused does not put its renewal off", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const begun: string[] = [];
    const at = (ms: number) => wait(clock, ms);
    const agents = {
      lost: agentOf(async ({ steps }) => {
        const n = begun.filter((name) => name === "lost").length + 1;
        begun.push("lost");
        await at(100 * n + 10);
        return await steps.do("write", { repeatable: true }, () => Promise.resolve("x"));
      }),
      healthy: agentOf(async ({ steps }) => {
        begun.push("healthy");
        for (let step = 0; step < 60; step++) await steps.do(`step:${step}`, { repeatable: true }, () => at(10));
        return "done";
      }),
    };
    const busy = stillClock(clock);
    const here = createRuns({ database, agents, clock: busy, watchdog: 500 });
    const there = createRuns({ database, agents: {}, clock, watchdog: 500 });
    const stolen: string[] = [];
    for (let count = 0; count < 6; count++) stolen.push((await here.start({ ...start, agent: "lost" })).id);
    const { id } = await here.start({ ...start, agent: "healthy" });
    await clock.settle();
    for (const run of stolen) {
      database.run(
        "update agent_runs set owner = 'other', epoch = epoch + 1, wake_at = ? where id = ?",
        clock.now() + 600,
        run,
      );
    }
    await there.resume();
    await clock.advance(1_000);
    const row = (await there.get(id))?.end;
    await Promise.all([here.close(), there.close()]);
    assertEquals(row?.type === "succeeded" && row.text, "done", JSON.stringify(row));
  });

  test("a clock that jumps ahead takes no run from who lives", { skip }, async () => {
    const database = await emptyDatabase();
    const virtual = new VirtualClock();
    const clock = jumpingClock(virtual);
    const agent = agentOf(({ steps }) => pay(steps, () => wait(virtual, 3_000)));
    const two = createRuns({ database, agents: { agent }, clock });
    await two.resume();
    const one = createRuns({ database, agents: { agent }, clock });
    const { id } = await one.start(start);
    await virtual.advance(500);
    clock.ahead = 10_000;
    await virtual.advance(10_000);
    const run = await two.get(id);
    await Promise.all([one.close(), two.close()]);
    assertEquals(run?.end?.type === "succeeded" && run.end.text, "paid");
  });

  test("nor does it when somebody starts a run before anything else is looked at", { skip }, async () => {
    const database = await emptyDatabase();
    const virtual = new VirtualClock();
    const clock = jumpingClock(virtual);
    const agents = {
      agent: agentOf(({ steps }) => pay(steps, () => wait(virtual, 3_000))),
      quick: agentOf(() => Promise.resolve("done")),
    };
    const two = createRuns({ database, agents, clock });
    await two.resume();
    const one = createRuns({ database, agents, clock });
    const { id } = await one.start(start);
    await virtual.advance(500);
    // The machine has slept.
    clock.ahead = 3_600_000;
    const other = await two.start({ ...start, agent: "quick" });
    await virtual.advance(10_000);
    const ends = await Promise.all([id, other.id].map(async (id) => (await two.get(id))?.end));
    await Promise.all([one.close(), two.close()]);
    assertEquals(ends.map((end) => end?.type === "succeeded" && end.text), ["paid", "done"]);
  });

  test("a run that is kept apart ends at its deadline", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agents = { agent: agentOf(() => new Promise(() => {})) };
    const random = { fraction: () => 0.99, bytes: systemRandom.bytes };
    const still = stillClock(clock);
    const dead = createRuns({ database, agents, clock: still });
    const deadline = clock.now() + 5_000;
    const { id } = await dead.start({ ...start, deadline });
    await clock.settle();
    database.run("update agent_runs set resumes = 9");
    const two = createRuns({ database, agents, clock, random });
    await two.resume();
    await clock.advance(10_000);
    const run = await two.get(id);
    await clock.until(Promise.all([dead.close(), two.close()]));
    assertEquals(run?.state, "failed");
  });

  test("a run with an open question that is busy beside it says so after a restart", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agents = {
      agent: agentOf(async (w) => {
        const [one] = await Promise.all([
          ask(w, "one?"),
          w.steps.do("long", { repeatable: true }, () => wait(clock, 3_600_000)),
        ]);
        return one.action;
      }),
    };
    const one = createRuns({ database, agents, clock });
    const { id } = await one.start(start);
    await clock.advance(100);
    const before = (await one.get(id))?.state;
    await clock.until(one.close());
    const two = createRuns({ database, agents, clock });
    await two.resume();
    await clock.advance(60_000);
    const run = await two.get(id);
    await clock.until(two.close());
    assertEquals([before, run?.state, run?.questions.length], ["needs_input", "needs_input", 1]);
  });

  test("nothing is begun after a cancel", { skip }, async () => {
    const bad: number[] = [];
    for (let hops = 1; hops < 30; hops++) {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      let isCancelled = false;
      const agent = agentOf(({ steps, signal }) =>
        steps.do("pay", {}, () => {
          if (isCancelled) bad.push(hops);
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
        })
      );
      const runs = createRuns({ database, agents: { agent }, clock });
      const id = "a_run_that_is_cancelled";
      void runs.start({ ...start, id });
      for (let hop = 0; hop < hops; hop++) await Promise.resolve();
      void runs.cancel(id);
      isCancelled = true;
      await clock.settle();
      await clock.until(runs.close());
    }
    assertEquals(bad, []);
  });
});
