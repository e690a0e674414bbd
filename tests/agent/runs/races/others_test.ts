/** What goes wrong with one run, and the others. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createObjectRuns, createRuns } from "../../../../src/agent/mod.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { emptyDatabase, skip } from "../support/database.ts";
import { start, stillClock } from "../support/runs.ts";
import { agentOf, ask } from "../support/scripted_agent.ts";

/** An agent whose process dies in the middle. */
const hanging = agentOf(() => new Promise(() => {}));

describe("a run that cannot go on", () => {
  test("the old secret can be dropped after one start", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const [old, fresh] = ["the old secret of the tests", "the fresh secret of the tests"];
    const agents = { agent: agentOf(async (w) => (await ask(w, "well?")).action) };
    const one = createRuns({ database, agents, clock, secret: [old, fresh] });
    const two = createRuns({ database, agents, clock, secret: [fresh, old] });
    const { id } = await one.start(start);
    await clock.advance(100);
    await Promise.all([one.close(), two.close()]);
    const three = createRuns({ database, agents, clock, secret: fresh });
    assertEquals((await three.get(id))?.state, "needs_input");
    await three.close();
  });

  test("one run that does not open keeps nobody from the others", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const [old, fresh] = ["the old secret of the tests", "the fresh secret of the tests"];
    const expiresAt = clock.now() + 60_000;
    const agents = {
      agent: agentOf(async (w) => (await ask(w, "well?", { expiresAt })).action),
      quick: agentOf(() => Promise.resolve("done")),
    };
    const one = createRuns({ database, agents, clock, secret: [old, fresh] });
    const two = createRuns({ database, agents, clock, secret: [fresh, old] });
    const three = createRuns({ database, agents, clock, secret: fresh });
    await three.resume();
    const stuck = await one.start(start);
    await clock.advance(100);
    await Promise.all([one.close(), two.close()]);
    await clock.advance(61_000);
    const { id } = await three.start({ ...start, agent: "quick" });
    await clock.advance(60_000);
    const run = await three.get(id);
    const states = database.all("select id, state from agent_runs").map((row) =>
      `${row["id"] === stuck.id}:${row["state"]}`
    );
    await three.close();
    assertEquals(run?.state, "succeeded", states.join());
  });

  test(
    "what one process has no agent for is left to those who have: a newer version of the program",
    { skip },
    async () => {
      const database = await emptyDatabase();
      const clock = new VirtualClock();
      const agent = agentOf(() => Promise.resolve("done"));
      const added = agentOf(() => Promise.resolve("added"));
      const older = createRuns({ database, agents: { agent }, clock });
      await older.resume();
      const dying = createRuns({ database, agents: { agent, added: hanging }, clock: stillClock(clock) });
      const ids = [
        (await dying.start({ ...start, agent: "added" })).id,
        (await dying.start({ ...start, agent: "added" })).id,
      ];
      const [id = "", other = ""] = ids;
      // Its process is gone: only the older one looks after runs.
      await clock.advance(120_000);
      assertEquals((await older.get(id))?.state, "running");
      const mine = await older.start(start);
      await clock.advance(1_000);
      assertEquals((await older.get(mine.id))?.state, "succeeded", "and it holds up none of its own");
      const newer = createRuns({ database, agents: { agent, added }, clock });
      await newer.resume();
      await clock.advance(5_000);
      for (const one of [id, other]) assertEquals((await older.get(one))?.state, "succeeded");
      await Promise.all([older.close(), newer.close()]);
    },
  );

  test("what is left to others makes nothing of its own late", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(async ({ steps }) => {
      await steps.sleep("a while", 30_000);
      return `${clock.now()}`;
    });
    const dying = createRuns({ database, agents: { added: hanging }, clock: stillClock(clock) });
    await dying.start({ ...start, agent: "added" });
    const runs = createRuns({ database, agents: { agent }, clock, watchdog: 300_000 });
    await runs.resume();
    await clock.advance(250_000);
    const { id, createdAt } = await runs.start(start);
    await clock.advance(100_000);
    const end = (await runs.get(id))?.end;
    assertEquals(end?.type === "succeeded" && Number(end.text) - createdAt, 30_000);
    await runs.close();
  });

  test("what nobody has an agent for any more is ended, later", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(() => Promise.resolve("done"));
    const before = createRuns({ database, agents: { gone: hanging }, clock: stillClock(clock) });
    const { id } = await before.start({ ...start, agent: "gone" });
    const after = createRuns({ database, agents: { agent }, clock });
    await after.resume();
    await clock.advance(500_000);
    assertEquals((await after.get(id))?.state, "running");
    await clock.advance(200_000);
    const end = (await after.get(id))?.end;
    assertEquals(end?.type === "failed" && end.error.message, 'There is no agent "gone" any more');
    await after.close();
    // Where nobody else can have one, it is ended at once.
    const again = createRuns({ database, agents: { gone: hanging }, clock: stillClock(clock) });
    const last = await again.start({ ...start, agent: "gone" });
    const alone = createRuns({ database, agents: { agent }, clock, alone: true });
    await alone.resume();
    await clock.settle();
    assertEquals((await alone.get(last.id))?.state, "failed");
    await alone.close();
  });

  test("one damaged run keeps nobody from the others", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const expiresAt = clock.now() + 60_000;
    const agents = {
      agent: agentOf(async (w) => {
        const [one] = await Promise.all([ask(w, "one?", { expiresAt }), ask(w, "two?")]);
        return one.action;
      }),
      quick: agentOf(() => Promise.resolve("done")),
    };
    const runs = createRuns({ database, agents, clock, limits: { parallel: 1 } });
    await runs.resume();
    const damaged = await runs.start(start);
    await clock.advance(100);
    database.run("delete from agent_texts where run = ? and kind = 'question' and name = 'two?'", damaged.id);
    await clock.advance(61_000);
    const { id } = await runs.start({ ...start, agent: "quick" });
    await clock.advance(60_000);
    const run = await runs.get(id);
    await runs.close();
    assertEquals(run?.state, "succeeded");
  });

  test("an alarm that cannot be set once loses no run", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let at: number | null = null;
    let isWell = true;
    const storage = {
      getAlarm: () => Promise.resolve(at),
      setAlarm: (time: number) => isWell ? Promise.resolve(void (at = time)) : Promise.reject(new Error("not now")),
      deleteAlarm: () => Promise.resolve(void (at = null)),
    };
    const agent = agentOf(({ steps }) => steps.sleep("long", 60_000).then(() => "slept"));
    const runs = createObjectRuns({ database, clock, storage, agents: { agent }, watchdog: 5_000 });
    const { id } = await runs.start(start);
    await clock.advance(100);
    const began = clock.now();
    let hasFailed = false;
    while (at !== null && at < began + 200_000) {
      await clock.advance(Math.max(0, at - clock.now()));
      at = null;
      if (!hasFailed && clock.now() >= began + 59_000) isWell = !(hasFailed = true);
      // The platform tries again six times, until it has worked.
      for (let tries = 0; tries < 7; tries++) {
        if (await runs.alarm().then(() => true, () => false)) break;
        isWell = true;
      }
      await clock.settle();
    }
    isWell = true;
    await clock.advance(3_600_000);
    const run = await runs.get(id);
    assertEquals([run?.state, at === null], ["succeeded", false]);
  });

  test("a deadline holds for who waits for a place, and for who waits for a person, too", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agents = {
      hanging: agentOf(() => new Promise<never>(() => {})),
      asking: agentOf(async (world) => (await ask(world, "well?")).action),
    };
    const runs = createRuns({ database, agents, clock, limits: { parallel: 1 } });
    const deadline = clock.now() + 10_000;
    const asking = await runs.start({ ...start, agent: "asking", deadline });
    await clock.advance(100);
    assertEquals((await runs.get(asking.id))?.state, "needs_input");
    await runs.start({ ...start, agent: "hanging" });
    const waiting = await runs.start({ ...start, agent: "asking", deadline });
    await clock.advance(12_000);
    const ends = await Promise.all([asking, waiting].map(async ({ id }) => (await runs.get(id))?.end));
    await runs.close();
    assertEquals(ends.map((end) => end?.type === "failed" && end.error.code), ["deadline", "deadline"]);
  });
});
