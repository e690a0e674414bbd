/** Readers of runs that change while they are read. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { RunEvent } from "../../../../src/agent/mod.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { emptyDatabase, meddleWith, skip } from "../support/database.ts";
import { checkEvents, eventsOf, secret, start, stillClock, wait } from "../support/runs.ts";
import { agentOf, ask } from "../support/scripted_agent.ts";

describe("readers of runs", () => {
  test("a run that is deleted meanwhile is not there", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agents = { agent: agentOf(() => Promise.resolve("done")) };
    const other = createRuns({ database, agents, clock });
    const ids = [(await other.start(start)).id, (await other.start(start)).id];
    await clock.settle();
    let victim: string | undefined;
    const here = createRuns({
      database: meddleWith(database, {
        after(sql) {
          if (!victim || !sql.startsWith("select * from agent_runs where")) return;
          const id = victim;
          victim = undefined;
          void other.forget(id);
        },
      }),
      agents,
      clock,
    });
    victim = ids[0];
    const got = await here.get(ids[0] ?? "").then((run) => run, String);
    victim = ids[1];
    const listed = await here.list().then((found) => found.length, String);
    assertEquals([got, listed], [undefined, 0]);
  });

  test("a live question that is forgotten meanwhile damages nothing", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agents = { agent: agentOf(async (w) => (await ask(w, "live?", { live: true })).action) };
    const still = stillClock(clock);
    const dead = createRuns({ database, agents, clock: still });
    const { id } = await dead.start(start);
    await clock.settle();
    await clock.advance(10_000);
    const next = createRuns({ database, agents, clock });
    let isOn = true;
    const here = createRuns({
      database: meddleWith(database, {
        after(sql) {
          if (!isOn || !sql.startsWith("select id from agent_questions")) return;
          isOn = false;
          void next.resume();
        },
      }),
      agents,
      clock,
    });
    const got = await here.get(id).then((run) => run?.state, String);
    await Promise.all([next.close(), here.close()]);
    assert(!String(got).includes("damaged"), String(got));
  });

  test("a reader of sealed events ends when its run is deleted", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf((w) => {
      for (let at = 0; at < 5; at++) w.emit(`step:${at}`, { type: "step", step: at });
      return Promise.resolve("done");
    });
    const runs = createRuns({ database, agents: { agent }, clock, secret });
    const { id } = await runs.start(start);
    await clock.settle();
    const seen: RunEvent[] = [];
    const outcome = await (async () => {
      for await (const event of runs.events(id)) {
        seen.push(event);
        if (seen.length === 2) await runs.forget(id);
      }
    })().then(() => "ended", String);
    await runs.close();
    assertEquals(outcome, "ended");
  });

  test("who reads a long run gives others their turn in between", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf((w) => {
      for (let at = 0; at < 30; at++) w.emit(`text:${at}`, { type: "text", step: at, text: "a".repeat(10_000) });
      return Promise.resolve("done");
    });
    const runs = createRuns({ database, agents: { agent }, clock, alone: true });
    const { id } = await runs.start(start);
    await clock.until(eventsOf(runs, id));
    const { schedule } = clock;
    let turns = 0;
    clock.schedule = (callback, milliseconds) => {
      if (milliseconds === 0) turns++;
      return schedule.call(clock, callback, milliseconds);
    };
    checkEvents(await clock.until(eventsOf(runs, id)));
    assertEquals(turns, 4);
    await runs.close();
  });

  test("a reader who lets others have their turn ends when the runs are closed meanwhile", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf((w) => {
      for (let at = 0; at < 3; at++) w.emit(`text:${at}`, { type: "text", step: at, text: "a".repeat(300_000) });
      return Promise.resolve("done");
    });
    const runs = createRuns({ database, agents: { agent }, clock, alone: true });
    const { id } = await runs.start(start);
    await clock.until(eventsOf(runs, id));
    const reading = eventsOf(runs, id);
    await runs.close();
    database.close?.();
    assertEquals(await clock.until(reading), []);
  });

  test("an answer that another process stored is told to readers here", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(async (w) => {
      const { action } = await ask(w, "live?", { live: true });
      await w.steps.do("long", { repeatable: true }, () => wait(clock, 200_000));
      return action;
    });
    const here = createRuns({ database, agents: { agent }, clock });
    const there = createRuns({ database, agents: { agent }, clock });
    const { id } = await here.start(start);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { event } of here.events(id)) seen.push(event.type);
    })();
    await clock.advance(100);
    await there.answer(id, "live?", { action: "accept" });
    await clock.advance(60_000);
    const early = [...seen];
    await clock.until(reading);
    await Promise.all([here.close(), there.close()]);
    assertEquals(early, ["question", "answered"]);
  });

  test(
    "a live question that died with its process is told as over, also where the next one has another id",
    { skip },
    async () => {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      let begun = 0;
      const agent = agentOf(async (w) => (await ask(w, `live ${++begun}`, { live: true })).action);
      const here = createRuns({ database, agents: { agent }, clock });
      const { id } = await here.start(start);
      await clock.settle();
      await here.close();
      const there = createRuns({ database, agents: { agent }, clock });
      await there.resume();
      await clock.settle();
      assertEquals((await there.get(id))?.questions.map((question) => question.id), ["live 2"]);
      await there.answer(id, "live 2", { action: "accept" });
      const seen: string[] = [];
      for await (const { event } of there.events(id)) {
        if (event.type === "question") seen.push(`${event.question.id} asked`);
        if (event.type === "answered") seen.push(`${event.id} ${event.action}`);
      }
      await there.close();
      assertEquals(seen, ["live 1 asked", "live 1 cancel", "live 2 asked", "live 2 accept"]);
    },
  );

  test("a live question that is asked again after its process died is told again", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(async (w) => (await ask(w, "live?", { live: true })).action);
    const here = createRuns({ database, agents: { agent }, clock });
    const { id } = await here.start(start);
    await clock.settle();
    await here.close();
    const there = createRuns({ database, agents: { agent }, clock });
    await there.resume();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { event } of there.events(id)) {
        seen.push(event.type);
        // Told twice: it was asked by both processes, and died with the first one.
        if (event.type === "question" && seen.length === 3) await there.answer(id, "live?", { action: "accept" });
      }
    })();
    await clock.advance(60_000);
    const early = [...seen];
    await there.answer(id, "live?", { action: "accept" });
    await clock.until(reading);
    await there.close();
    assertEquals(early, ["question", "answered", "question", "answered", "succeeded"]);
  });

  test("the end of a question's time is told to readers, where nobody else is", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const expiresAt = clock.now() + 60_000;
    const agent = agentOf(async (w) => {
      const { action } = await ask(w, "well?", { expiresAt });
      await w.steps.do("long", { repeatable: true }, () => wait(clock, 200_000));
      return action;
    });
    const runs = createRuns({ database, agents: { agent }, clock, alone: true });
    await runs.resume();
    const { id } = await runs.start(start);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { event } of runs.events(id)) seen.push(event.type);
    })();
    await clock.advance(120_000);
    const early = [...seen];
    await clock.until(reading);
    await runs.close();
    assertEquals(early, ["question", "answered"]);
  });
});
