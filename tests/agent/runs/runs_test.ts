/** Runs that are kept: started, asked, answered, cancelled, ended. */
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { RunLeftError } from "../../../src/agent/runs/steps.ts";
import type { DurableRuns, RunnableAgent, RunWorld } from "../../../src/agent/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { describeKinds } from "../../support/runs/describe_kinds.ts";
import { emptyDatabase, meddleWith, skip } from "./support/database.ts";
import { checkEvents, eventsOf, Ledger, reach, start, stillClock } from "./support/runs.ts";
import { agentOf, ask, createScriptedAgent } from "./support/scripted_agent.ts";

type AgentWork = (world: RunWorld) => Promise<string>;

const usage = { inputTokens: 0, outputTokens: 0 };

describeKinds("runs that are kept", ({ createRuns, withRuns }) => {
  test("a run goes to its end, and its events tell all of it", { skip }, async () => {
    const ledger = new Ledger();
    const agent = createScriptedAgent({ rounds: 3, call: ledger.call });
    await withRuns({ agents: { agent } }, async (runs) => {
      const { id, state, principal } = await runs.start(start);
      assert(["accepted", "running"].includes(state));
      assertEquals(principal, "ada");
      const events = await eventsOf(runs, id);
      checkEvents(events);
      const types = events.map(({ event: { type } }) => type);
      const round = ["step", "text", "progress", "usage"];
      assertEquals(types, [...round, ...round, ...round, "succeeded"]);
      assertEquals(events[1]?.event, { type: "text", step: 1, text: "I think" });
      const run = await runs.get(id);
      assertEquals([run?.state, run?.steps, run?.usage, run?.unknown], [
        "succeeded",
        3,
        { inputTokens: 9, outputTokens: 3 },
        [],
      ]);
      assertEquals(run?.end?.type === "succeeded" && run.end.text, `["ok","ok","ok"]`);
      assertEquals([...ledger.counts.values()], [1, 1, 1]);
      assertEquals((await eventsOf(runs, id, 11)).map(({ sequence }) => sequence), [12, 13]);
      assertEquals(await eventsOf(runs, id, 13), []);
      assertEquals(await eventsOf(runs, "no_such_run_here"), []);
      assertEquals(await runs.get("no_such_run_here"), undefined);
    });
  });

  test("a question leaves the run, and its answer goes on with it", { skip }, async () => {
    const ledger = new Ledger();
    let begun = 0;
    const scripted = createScriptedAgent({ rounds: 2, call: ledger.call, askAfter: 1 });
    const agent: RunnableAgent = { execute: (task, world) => (begun++, scripted.execute(task, world)) };
    await withRuns({ agents: { agent } }, async (runs) => {
      const { id } = await runs.start(start);
      const waiting = await reach(runs, id, "needs_input");
      assertEquals(waiting.questions.map(({ id, kind }) => [id, kind]), [["go on after 1?", "approval"]]);
      assertEquals(waiting.closed, []);
      await new Promise((resolve) => setTimeout(resolve, 60));
      assertEquals(await runs.answer(id, "another question", { action: "accept" }), "unknown");
      assertEquals(await runs.answer("no_such_run_here", "go on after 1?", { action: "accept" }), "unknown");
      const retry = { action: "retry" } as const;
      const wrong = await assertRejects(() => runs.answer(id, "go on after 1?", retry), TypeError);
      assert(wrong.message.includes("accept, decline, cancel"));
      assertEquals(await runs.answer(id, "go on after 1?", { action: "decline" }), "taken");
      assertEquals(await runs.answer(id, "go on after 1?", { action: "accept" }), "stale");
      assertEquals((await runs.get(id))?.closed, ["go on after 1?"]);
      const events = await eventsOf(runs, id);
      checkEvents(events);
      const end = events.at(-1)?.event;
      assertEquals(end?.type === "succeeded" && end.text, `["ok","decline","ok"]`);
      assertEquals([...ledger.counts.values(), begun], [1, 1, 2]);
      const told = events.filter(({ event: { type } }) => type === "question" || type === "answered");
      assertEquals(told.map(({ event }) => event.type), ["question", "answered"]);
    });
  });

  test(
    "questions that are asked side by side are all stored, and what runs beside them ends first",
    { skip },
    async () => {
      const agent = agentOf(async (world) => {
        const late = world.steps.do("slow", {}, async () => {
          await new Promise((resolve) => setTimeout(resolve, 80));
          return "done";
        });
        const [one, two, three] = await Promise.all([ask(world, "one?"), ask(world, "two?"), late]);
        return `${one.action} ${two.action} ${three}`;
      });
      await withRuns({ agents: { agent } }, async (runs) => {
        const { id } = await runs.start(start);
        await new Promise((resolve) => setTimeout(resolve, 200));
        const { questions, unknown } = await reach(runs, id, "needs_input");
        assertEquals([questions.map(({ id }) => id), unknown], [["one?", "two?"], []]);
        await runs.answer(id, "two?", { action: "accept" });
        await new Promise((resolve) => setTimeout(resolve, 60));
        assertEquals((await reach(runs, id, "needs_input")).questions.length, 1);
        await runs.answer(id, "one?", { action: "cancel" });
        const end = (await eventsOf(runs, id)).at(-1)?.event;
        assertEquals(end?.type === "succeeded" && end.text, "cancel accept done");
      });
    },
  );

  test("a live question waits in place, and takes an answer that another process has stored", { skip }, async () => {
    const database = await emptyDatabase();
    let begun = 0;
    const agent = agentOf((world) => {
      begun++;
      return world.steps.do("call", {}, async () => (await ask(world, "live?", { live: true })).action);
    });
    const clock = new VirtualClock();
    const here = createRuns({ database, agents: { agent }, clock, watchdog: 500 });
    const there = createRuns({ database, agents: { agent }, clock, watchdog: 500 });
    const { id } = await here.start(start);
    await reach(there, id, "needs_input");
    await clock.advance(700);
    await there.resume();
    assertEquals(await there.answer(id, "live?", { action: "accept" }), "taken");
    const end = (await clock.until(eventsOf(there, id))).at(-1)?.event;
    assertEquals([begun, end?.type === "succeeded" && end.text], [1, "accept"]);
    await Promise.all([here.close(), there.close()]);
    database.close?.();
  });

  test("what comes in from another process while a run is about to be left is not overlooked", { skip }, async () => {
    const waits: [AgentWork, (runs: DurableRuns, id: string) => Promise<unknown>][] = [
      [
        async (world) => (await ask(world, "well?")).action,
        (runs, id) => runs.answer(id, "well?", { action: "accept" }),
      ],
      [
        async ({ steps }) => String((await steps.waitForEvent("mail", { type: "mail" })).payload),
        (runs, id) => runs.send(id, "mail", "accept"),
      ],
    ];
    for (const [work, give] of waits) {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      const agents = { agent: agentOf(work) };
      const there = createRuns({ database, agents, clock, watchdog: 500 });
      let given: Promise<unknown> | undefined;
      let isIdle = false;
      // Just before the transaction in which the run is left.
      const before = (sql: string): void => {
        if (isIdle && sql === "begin") given ??= give(there, id);
      };
      const here = createRuns({ database: meddleWith(database, { before }), agents, clock, watchdog: 500 });
      const { id } = await here.start(start);
      await clock.advance(20);
      isIdle = true;
      const end = (await clock.until(eventsOf(here, id))).at(-1)?.event;
      assert(given !== undefined && end?.type === "succeeded" && end.text === "accept", JSON.stringify(end));
      await Promise.all([here.close(), there.close()]);
      database.close?.();
    }
  });

  test("a process that is too busy for its timers keeps its runs while it writes", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let begun = 0;
    const pause = (): Promise<void> => new Promise((resolve) => void clock.schedule(resolve, 100));
    const agent = agentOf(async ({ steps }) => {
      begun++;
      for (let step = 0; step < 30; step++) await steps.do(`step:${step}`, { repeatable: true }, pause);
      return "done";
    });
    const busy = stillClock(clock);
    const here = createRuns({ database, agents: { agent }, clock: busy, watchdog: 500 });
    const there = createRuns({ database, agents: { agent }, clock, watchdog: 500 });
    await there.resume();
    const { id } = await here.start(start);
    const end = (await clock.until(eventsOf(there, id))).at(-1)?.event;
    assertEquals([begun, end?.type === "succeeded" && end.text], [1, "done"]);
    await Promise.all([here.close(), there.close()]);
    database.close?.();
  });

  test("a question that nobody answers ends as a no, and a run has a deadline", { skip }, async () => {
    const clock = new VirtualClock();
    const expiresAt = clock.now() + 60_000;
    const agents = {
      patient: agentOf(async (world) => (await ask(world, "well?", { expiresAt })).action),
      slow: agentOf((world) => world.steps.sleep("long", 3_600_000).then(() => "slept")),
    };
    await withRuns({ agents, clock, watchdog: 600_000 }, async (runs) => {
      await runs.resume();
      const { id } = await runs.start({ ...start, agent: "patient" });
      const late = await runs.start({ ...start, agent: "slow", deadline: clock.now() + 30_000 });
      const slow = await runs.start({ ...start, agent: "slow" });
      await clock.advance(59_000);
      assertEquals((await runs.get(id))?.state, "needs_input");
      const failed = await runs.get(late.id);
      assertEquals(failed?.end?.type === "failed" && failed.end.error.code, "deadline");
      await clock.advance(3_000);
      assertEquals(await runs.answer(id, "well?", { action: "accept" }), "stale");
      const run = await runs.get(id);
      assertEquals(run?.end?.type === "succeeded" && run.end.text, "cancel");
      assertEquals((await runs.get(slow.id))?.state, "running");
      await clock.advance(3_600_000);
      const slept = (await runs.get(slow.id))?.end;
      assertEquals(slept?.type === "succeeded" && slept.text, "slept");
    });
  });

  test("a run is cancelled wherever it is, once, and nothing of it goes on", { skip }, async () => {
    let aborted = 0;
    const hanging = agentOf(({ steps, signal }) =>
      steps.do("hang", {}, () =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            aborted++;
            reject(signal.reason);
          });
        }))
    );
    const asking = agentOf(async (world) => (await ask(world, "well?")).action);
    await withRuns({ agents: { hanging, asking }, limits: { parallel: 1 } }, async (runs) => {
      const one = await runs.start({ ...start, agent: "hanging" });
      const waiting = await runs.start({ ...start, agent: "asking" });
      assertEquals((await runs.get(waiting.id))?.state, "accepted", "there is one place");
      const before = await runs.cancel(waiting.id, "not needed");
      assertEquals(before?.end, { type: "cancelled", reason: "not needed", usage, steps: 0 });
      const other = await runs.cancel(one.id);
      assertEquals([other?.state, other?.unknown, aborted], ["cancelled", ["hang"], 1]);
      assertEquals((await runs.cancel(one.id, "again"))?.end, other?.end);
      const asked = await runs.start({ ...start, agent: "asking" });
      await reach(runs, asked.id, "needs_input");
      const over = await runs.cancel(asked.id);
      assertEquals([over?.state, over?.questions, over?.closed], ["cancelled", [], ["well?"]]);
      assertEquals(await runs.answer(asked.id, "well?", { action: "accept" }), "stale");
      assertEquals(await runs.cancel("no_such_run_here"), undefined);
      for (const { id } of [one, waiting, asked]) checkEvents(await eventsOf(runs, id));
    });
  });

  test("a run that is deleted while it works is left at once, and who reads it reads no more", { skip }, async () => {
    let signal: AbortSignal | undefined;
    const agent = agentOf((world) => {
      world.emit("begun", { type: "step", step: 1 });
      signal = world.signal;
      return new Promise(() => {});
    });
    await withRuns({ agents: { agent }, alone: true }, async (runs) => {
      const { id } = await runs.start(start);
      const seen: string[] = [];
      for await (const { event } of runs.events(id)) {
        seen.push(event.type);
        if (seen.length > 1) break;
        // Who reads waits by now for what comes next.
        setTimeout(() => void runs.forget(id), 20);
      }
      assertEquals(seen, ["step"]);
      assert(signal?.aborted && signal.reason instanceof RunLeftError);
      assertEquals([signal.reason.reason, await runs.get(id), await runs.forget(id)], ["ended", undefined, false]);
    });
  });

  test(
    "an answer that comes after the time of its question is stale, also before anybody has looked",
    { skip },
    async () => {
      const clock = new VirtualClock();
      const database = await emptyDatabase();
      const expiresAt = clock.now() + 60_000;
      const agents = { agent: agentOf(async (world) => (await ask(world, "well?", { expiresAt })).action) };
      const first = createRuns({ database, agents, clock });
      const { id } = await first.start(start);
      await clock.advance(1_000);
      assertEquals((await first.get(id))?.state, "needs_input");
      await first.close();
      const second = createRuns({ database, agents, clock: stillClock(clock) });
      await clock.advance(59_000);
      assertEquals(await second.answer(id, "well?", { action: "accept" }), "stale");
      await second.close();
      database.close?.();
    },
  );

  test("runs that were left leave no timers", { skip }, async () => {
    const clock = new VirtualClock();
    let end = (): void => {};
    const napping = agentOf(async ({ steps }) => {
      await steps.sleep("nap", 9_000);
      return "slept";
    });
    const asking = agentOf(async (world) =>
      (await ask(world, "well?", { live: true, expiresAt: clock.now() + 3_600_000 })).action
    );
    const busy = agentOf(({ steps }) =>
      steps.do("work", {}, () => new Promise<string>((resolve) => end = () => resolve("done")))
    );
    const runs = createRuns({
      database: await emptyDatabase(),
      clock,
      agents: { napping, asking, busy },
      drain: 60_000,
    });
    const ids: string[] = [];
    for (const agent of ["napping", "asking", "busy"]) ids.push((await runs.start({ ...start, agent })).id);
    await clock.settle();
    for (const id of ids.slice(0, 2)) await runs.cancel(id);
    const closed = runs.close();
    end();
    await closed;
    assertEquals(clock.waiting, 0);
  });

  test("what is closed takes nothing, and does not call it wrong", { skip }, async () => {
    const runs = createRuns({ database: await emptyDatabase(), agents: {} });
    await runs.close();
    for (const ask of [() => runs.start(start), () => runs.answer("id", "q", { action: "accept" })]) {
      const error = await assertRejects(ask, Error, "The runs are closed");
      assertEquals(error instanceof TypeError, false);
    }
  });
});
