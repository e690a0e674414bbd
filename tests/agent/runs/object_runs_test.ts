/** Runs in a Durable Object: its alarm is there before the work, and survives whatever goes wrong. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { McpError } from "../../../mod.ts";
import { createObjectRuns } from "../../../src/agent/mod.ts";
import type { ObjectRuns, RunnableAgent } from "../../../src/agent/mod.ts";
import type { SqlDatabase } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { emptyDatabase, meddleWith, skip } from "./support/database.ts";
import { checkEvents, eventsOf, Ledger, secret, start } from "./support/runs.ts";
import { agentOf, ask, createScriptedAgent } from "./support/scripted_agent.ts";

/** An alarm as the platform keeps it: it rings, is tried again six times when that fails, and is gone then. */
class Alarms {
  at: number | null = null;
  isWell = true;
  sets = 0;

  getAlarm(): Promise<number | null> {
    return Promise.resolve(this.at);
  }

  setAlarm(at: number): Promise<void> {
    if (!this.isWell) return Promise.reject(new Error("no alarm can be set"));
    this.sets++;
    this.at = at;
    return Promise.resolve();
  }

  deleteAlarm(): Promise<void> {
    this.at = null;
    return Promise.resolve();
  }

  /** Lets time pass and the alarm ring; each ring makes an object anew, as after an eviction. */
  async ring(clock: VirtualClock, until: number, wake: () => ObjectRuns): Promise<number> {
    let rings = 0;
    while (this.at !== null && this.at <= until) {
      await clock.advance(Math.max(0, this.at - clock.now()));
      this.at = null;
      rings++;
      for (let tries = 0; tries < 7; tries++) {
        const isDone = await wake().alarm().then(() => true, () => false);
        if (isDone) break;
      }
      await clock.settle();
    }
    await clock.advance(Math.max(0, until - clock.now()));
    return rings;
  }
}

interface Place {
  readonly database: SqlDatabase;
  readonly clock: VirtualClock;
  readonly storage: Alarms;
}

async function makePlace(): Promise<Place> {
  return { database: await emptyDatabase(), clock: new VirtualClock(), storage: new Alarms() };
}

function open({ database, clock, storage }: Place, agent: RunnableAgent, over = database): ObjectRuns {
  return createObjectRuns({ database: over, clock, storage, agents: { agent }, watchdog: 5_000 });
}

describe("runs in a Durable Object", () => {
  test(
    "the alarm is set before a run is accepted, and one without an alarm is refused and not there",
    { skip },
    async () => {
      const place = await makePlace();
      const ledger = new Ledger();
      const runs = open(place, createScriptedAgent({ rounds: 1, call: ledger.call }));
      place.storage.isWell = false;
      await assertRejects(() => runs.start(start));
      assertEquals([(await runs.list()).length, ledger.counts.size], [0, 0]);
      place.storage.isWell = true;
      const { id } = await runs.start(start);
      assert(place.storage.at !== null && place.storage.at <= place.clock.now() + 5_000);
      await place.clock.advance(100);
      assertEquals((await runs.get(id))?.state, "succeeded");
      await runs.alarm();
      const left = Number(place.storage.at) - place.clock.now();
      assert(left > 30 * 86_400_000 - 1_000 && left <= 30 * 86_400_000 + 3_600_000, `only to be deleted: ${left} ms`);
      await runs.forget(id);
      await runs.alarm();
      assertEquals(place.storage.at, null, "nothing is left to do");
      await runs.close();
    },
  );

  test("an alarm that fails seven times in a row rings again, and the run goes on", { skip }, async () => {
    const place = await makePlace();
    const ledger = new Ledger();
    const agent = createScriptedAgent({ rounds: 2, call: ledger.call });
    const hanging = agentOf(() => new Promise(() => {}));
    const first = open(place, hanging);
    const { id } = await first.start(start);
    let failures = 0;
    const failing = meddleWith(place.database, {
      before(sql) {
        if (failures >= 30 || !sql.startsWith("select id, owner")) return;
        failures++;
        throw new Error("the storage fails");
      },
    });
    const objects: ObjectRuns[] = [first];
    const rings = await place.storage.ring(place.clock, place.clock.now() + 200_000, () => {
      const runs = open(place, agent, failing);
      objects.push(runs);
      return runs;
    });
    assert(rings > 7, `${rings} rings`);
    const last = objects.at(-1);
    assertEquals((await last?.get(id))?.state, "succeeded");
    assertEquals([...ledger.counts.values()], [1, 1]);
    if (last) checkEvents(await eventsOf(last, id));
    await place.clock.until(Promise.all(objects.map((runs) => runs.close())));
  });

  test("while something runs the alarm is at most the watchdog's interval ahead; a question waits without one", {
    skip,
  }, async () => {
    const place = await makePlace();
    const expiresAt = place.clock.now() + 3_600_000;
    const agent = agentOf(async (world) => {
      await world.steps.do(
        "long",
        { repeatable: true },
        () => new Promise<void>((resolve) => void place.clock.schedule(resolve, 30_000)),
      );
      return (await ask(world, "well?", { expiresAt })).action;
    });
    const runs = open(place, agent);
    const { id } = await runs.start(start);
    for (let seconds = 0; seconds < 29; seconds++) {
      const { at } = place.storage;
      const now = place.clock.now();
      assert(at !== null && at > now - 1_000 && at <= now + 5_000, `${seconds} s: ${at === null ? at : at - now}`);
      await place.clock.advance(1_000);
      if (place.storage.at !== null && place.storage.at <= place.clock.now()) {
        place.storage.at = null;
        await runs.alarm();
      }
    }
    await place.clock.advance(3_000);
    assertEquals((await runs.get(id))?.state, "needs_input");
    await runs.alarm();
    assertEquals(place.storage.at, expiresAt);
    // The object is evicted; the alarm wakes another one.
    await runs.close();
    const objects: ObjectRuns[] = [];
    const wake = (): ObjectRuns => {
      const next = open(place, agent);
      objects.push(next);
      return next;
    };
    await place.storage.ring(place.clock, expiresAt, wake);
    await place.clock.advance(31_000);
    const end = (await objects.at(-1)?.get(id))?.end;
    assertEquals(end?.type === "succeeded" && end.text, "cancel");
    await place.clock.until(Promise.all(objects.map((object) => object.close())));
  });

  test("an object that sleeps deletes what is old, by its alarm alone, and then has none", { skip }, async () => {
    const place = await makePlace();
    const agent = createScriptedAgent({ rounds: 1, call: new Ledger().call });
    const asking = agentOf(async (world) => (await ask(world, "well?")).action);
    const makeRuns = (): ObjectRuns =>
      createObjectRuns({ ...place, agents: { agent, asking }, watchdog: 5_000, retention: 86_400_000 });
    const first = makeRuns();
    for (let count = 0; count < 150; count++) await first.start({ ...start, id: `the_run_number_${1_000 + count}` });
    await place.clock.advance(100);
    const waiting = await first.start({ ...start, agent: "asking" });
    await place.clock.advance(3_600_000);
    const late = await first.start(start);
    await place.clock.advance(100);
    await first.close();
    const count = (): unknown => place.database.all("select count(*) as count from agent_runs")[0]?.["count"];
    assertEquals(count(), 152);
    const objects: ObjectRuns[] = [];
    const wake = (): ObjectRuns => {
      const next = makeRuns();
      objects.push(next);
      return next;
    };
    const began = place.clock.now();
    await place.storage.ring(place.clock, began + 82_000_000, wake);
    assertEquals(count(), 152, "nothing before its time");
    const rings = await place.storage.ring(place.clock, began + 100_000_000, wake);
    assert(rings <= 8, `${rings} rings`);
    const last = objects.at(-1);
    assertEquals((await last?.list())?.map(({ id }) => id), [waiting.id]);
    assertEquals([place.storage.at, await last?.get(late.id)], [null, undefined]);
    await place.clock.until(Promise.all(objects.map((object) => object.close())));
  });

  test(
    "the wrong secret refuses each call and keeps the alarm; with the right one the run goes on",
    { skip },
    async () => {
      const place = await makePlace();
      const ledger = new Ledger();
      const makeRuns = (secret: string, agent: RunnableAgent): ObjectRuns =>
        createObjectRuns({ ...place, agents: { agent }, watchdog: 5_000, secret });
      const first = makeRuns(secret, agentOf(({ steps }) => steps.do("hang", {}, () => new Promise(() => {}))));
      const { id } = await first.start(start);
      await place.clock.settle();
      const wrong = makeRuns("quite another secret", createScriptedAgent({ rounds: 1, call: ledger.call }));
      const calls = [
        () => wrong.start(start),
        () => wrong.get(id),
        () => wrong.list(),
        () => wrong.answer(id, "q", { action: "accept" }),
        () => wrong.send(id, "type"),
        () => wrong.cancel(id),
        () => wrong.forget(id),
        () => wrong.resume(),
        () => eventsOf(wrong, id),
      ];
      for (const refused of calls) await assertRejects(refused, McpError, "another secret");
      for (let times = 0; times < 10; times++) {
        place.storage.at = null;
        await wrong.alarm();
        assert(Number(place.storage.at) > place.clock.now());
        await place.clock.advance(5_000);
      }
      await wrong.close();
      const right = makeRuns(secret, createScriptedAgent({ rounds: 1, call: ledger.call }));
      await right.alarm();
      await place.clock.advance(50);
      assertEquals([(await right.get(id))?.state, [...ledger.counts.values()]], ["succeeded", [1]]);
      await place.clock.until(Promise.all([first.close(), right.close()]));
    },
  );

  test("what a dead object held is taken at once", { skip }, async () => {
    const place = await makePlace();
    const ledger = new Ledger();
    const first = open(place, agentOf(({ steps }) => steps.do("hang", {}, () => new Promise(() => {}))));
    const { id } = await first.start(start);
    await place.clock.settle();
    const second = open(place, createScriptedAgent({ rounds: 1, call: ledger.call }));
    await second.alarm();
    await place.clock.advance(50);
    const run = await second.get(id);
    assertEquals([run?.state, run?.unknown], ["succeeded", ["hang"]]);
    await place.clock.until(Promise.all([first.close(), second.close()]));
  });
});
