/** Which runs are kept: ids, lists, limits, and what is deleted. */
import { test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { LimitExceededError, McpError } from "../../../mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { describeKinds } from "../../support/runs/describe_kinds.ts";
import { emptyDatabase, skip } from "./support/database.ts";
import { checkEvents, eventsOf, start } from "./support/runs.ts";
import { agentOf, ask, createScriptedAgent } from "./support/scripted_agent.ts";

describeKinds("the runs of a database", ({ createRuns, withRuns }) => {
  test("starting twice with one id starts once; wrong fields are named", { skip }, async () => {
    const agent = agentOf(() => Promise.resolve("done"));
    await withRuns({ agents: { agent, other: agent } }, async (runs) => {
      const id = "an_id_of_the_callers_own";
      const both = await Promise.all([runs.start({ ...start, id }), runs.start({ ...start, id })]);
      assertEquals(both.map((run) => run.id), [id, id]);
      assertEquals((await runs.list()).length, 1);
      await assertRejects(() => runs.start({ ...start, id, principal: "eve" }), TypeError);
      await assertRejects(() => runs.start({ ...start, id, agent: "other" }), TypeError, "cannot be used");
      const wrong: readonly [object, string][] = [
        [{ agent: "nobody" }, `no agent "nobody"`],
        [{ agent: "" }, `"agent"`],
        [{ agent: "toString" }, `no agent "toString"`],
        [{ principal: "" }, `"principal"`],
        [{ id: "short" }, `"id"`],
        [{ input: "" }, `"input"`],
        [{ input: [] }, `"input"`],
        [{ output: [] }, `"output"`],
        [{ deadline: NaN }, `"deadline"`],
      ];
      for (const [field, words] of wrong) {
        const error = await assertRejects(() => runs.start({ ...start, ...field }), TypeError);
        assert(error.message.includes(words), error.message);
      }
      assertEquals((await runs.list()).length, 1);
    });
  });

  test("lists: newest first, by principal and state, page by page without a gap", { skip }, async () => {
    const agents = {
      agent: agentOf(() => Promise.resolve("done")),
      asking: agentOf(async (w) => (await ask(w, "?")).action),
    };
    await withRuns({ agents, clock: new VirtualClock() }, async (runs) => {
      const ids: string[] = [];
      for (let at = 0; at < 25; at++) {
        const principal = at % 5 === 0 ? "bob" : "ada";
        ids.unshift((await runs.start({ ...start, principal, agent: at === 7 ? "asking" : "agent" })).id);
      }
      const found: string[] = [];
      let before: number | undefined;
      for (;;) {
        const page = await runs.list({ limit: 10, before });
        if (page.length === 0) break;
        found.push(...page.map(({ id }) => id));
        before = page.at(-1)?.createdAt;
      }
      assertEquals(found, ids, "all of one millisecond, too");
      assertEquals((await runs.list({ principal: "bob" })).length, 5);
      assertEquals((await runs.list({ state: "needs_input" })).map(({ id }) => id), [ids[17]]);
      await assertRejects(() => runs.list({ limit: 0 }), TypeError);
    });
  });

  test("limits name their option, and what was begun is not half written", { skip }, async () => {
    const asking = agentOf(async (world) => (await ask(world, "well?")).action);
    const chatty = agentOf((world) => {
      for (let at = 0; at < 300; at++) world.emit(`step:${at}`, { type: "step", step: at });
      return Promise.resolve("done");
    });
    const heavy = agentOf((world) => world.steps.do("heavy", {}, () => Promise.resolve("x".repeat(9_000))));
    const limits = { open: 2, events: 100, bytes: 8_000, valueBytes: 20_000 };
    await withRuns({ agents: { asking, chatty, heavy }, limits }, async (runs) => {
      for (const agent of ["chatty", "heavy"]) {
        const { id } = await runs.start({ ...start, agent });
        const events = await eventsOf(runs, id);
        checkEvents(events);
        const end = events.at(-1)?.event;
        const name = agent === "chatty" ? "limits.events" : "limits.bytes";
        assert(end?.type === "failed" && end.error.code === "limit_exceeded", JSON.stringify(end));
        assert(end.error.message.includes(name), end.error.message);
      }
      const long = await assertRejects(
        () => runs.start({ ...start, agent: "asking", input: "x".repeat(30_000) }),
        LimitExceededError,
      );
      assertEquals(long.limit, "limits.valueBytes");
      const one = await runs.start({ ...start, agent: "asking" });
      await runs.start({ ...start, agent: "asking" });
      const error = await assertRejects(() => runs.start({ ...start, agent: "asking" }), LimitExceededError);
      assertEquals([error.limit, error.value, (await runs.list()).length], ["limits.open", 2, 4]);
      assertEquals(await runs.countOpen?.(), 2);
      assertEquals(await runs.forget(one.id), true);
      assertEquals(await runs.forget(one.id), false);
      await runs.start({ ...start, agent: "asking" });
      assertEquals(await runs.get(one.id), undefined);
    });
  });

  test("where more runs end than are deleted at once, it goes on until no more are kept", { skip }, async () => {
    const clock = new VirtualClock();
    const agent = agentOf(() => Promise.resolve("done"));
    await withRuns({ agents: { agent }, clock, limits: { kept: 5 } }, async (runs) => {
      await runs.resume();
      for (let count = 0; count < 130; count++) await runs.start(start);
      await clock.advance(70_000);
      assertEquals((await runs.list({ limit: 1_000 })).length, 5);
    });
  });

  test(
    "a damaged one is told to who asks for it, can be deleted, and stands in the way of no other",
    { skip },
    async () => {
      const damages = [
        "update agent_runs set state = 'odd' where id = ?",
        "update agent_runs set updated_at = 'late' where id = ?",
        "update agent_texts set text = '{' where kind = 'question' and run = ?",
        "delete from agent_texts where run = ?",
      ];
      for (const damage of damages) {
        const clock = new VirtualClock();
        const database = await emptyDatabase();
        const agent = agentOf(async (world) => (await ask(world, "well?")).action);
        const logs: string[] = [];
        const logger = ({ message }: { readonly message: string }): void => void logs.push(message);
        const runs = createRuns({
          database,
          agents: { agent },
          clock,
          logger,
          retention: 3_600_000,
          watchdog: 300_000,
        });
        await runs.resume();
        const ids: string[] = [];
        for (let count = 0; count < 4; count++) ids.push((await runs.start(start)).id);
        await clock.advance(1_000);
        const [first = "", second = "", third = "", fourth = ""] = ids;
        database.run(damage, second);
        database.run("update agent_runs set wake_at = ? where id = ?", clock.now(), second);
        const listed = async (limit: number): Promise<string[]> => (await runs.list({ limit })).map(({ id }) => id);
        assertEquals([await listed(9), await listed(3), await listed(2)], [
          [fourth, third, first],
          [fourth, third, first],
          [fourth, third],
        ], damage);
        assert(logs.includes("A run cannot be read"), damage);
        await assertRejects(() => runs.get(second), McpError);
        for (const id of [first, third]) assertEquals(await runs.answer(id, "well?", { action: "accept" }), "taken");
        await clock.advance(1_000);
        assertEquals((await runs.get(third))?.state, "succeeded", damage);
        // Old ones behind it are deleted all the same.
        database.run("update agent_runs set ended_at = 1, wake_at = null where id = ?", second);
        await clock.advance(3_800_000);
        assertEquals([await listed(9), await runs.get(second)], [[fourth], undefined], damage);
        await runs.close();
        database.close?.();
      }
    },
  );

  test("one whose task or steps are damaged ends at once, and says why", { skip }, async () => {
    const damages = [["task", "delete from agent_texts where kind = 'task' and run = ?"], [
      "step",
      "update agent_texts set text = '{' where kind = 'step' and run = ?",
    ]] as const;
    for (const [what, damage] of damages) {
      const clock = new VirtualClock();
      const database = await emptyDatabase();
      let begun = 0;
      const agent = agentOf(async (world) => {
        await world.steps.do("first", {}, () => Promise.resolve(++begun));
        return (await ask(world, "well?")).action;
      });
      const logs: string[] = [];
      const logger = ({ message }: { readonly message: string }): void => void logs.push(message);
      const runs = createRuns({ database, agents: { agent }, clock, logger });
      await runs.resume();
      const { id } = await runs.start(start);
      await clock.advance(1_000);
      database.run(damage, id);
      await runs.answer(id, "well?", { action: "accept" });
      await clock.advance(1_000);
      const { state, end } = await runs.get(id) ?? {};
      assert(end?.type === "failed", `${what}: ${state}`);
      assertEquals([end.error.code, begun, logs.length], ["internal", 1, 1], what);
      assert(end.error.message.includes("Cannot read the database of runs"), end.error.message);
      await runs.close();
      database.close?.();
    }
  });

  test("one whose row is damaged while it works is left", { skip }, async () => {
    const clock = new VirtualClock();
    const database = await emptyDatabase();
    const agent = agentOf(async (world) => {
      database.run("update agent_runs set updated_at = 'late' where id = ?", world.id);
      await world.steps.do("first", {}, () => Promise.resolve(1));
      return "done";
    });
    const runs = createRuns({ database, agents: { agent }, clock, logger: () => {} });
    const id = "an_id_of_the_callers_own";
    await runs.start({ ...start, id }).catch(() => {});
    await clock.advance(60_000);
    await assertRejects(() => runs.get(id), McpError, "updated_at");
    assertEquals(await runs.forget(id), true);
    await runs.close();
    database.close?.();
  });

  for (const column of ["updated_at", "epoch"]) {
    test(`one whose row is damaged while it works (${column}) takes no lease from the others`, { skip }, async () => {
      const clock = new VirtualClock();
      const database = await emptyDatabase();
      let begun = 0;
      const agents = {
        bad: agentOf(async (world) => {
          database.run(`update agent_runs set ${column} = 'late' where id = ?`, world.id);
          await world.steps.do("first", {}, () => Promise.resolve(1));
          return "done";
        }),
        long: agentOf(async () => {
          begun++;
          await new Promise<void>((resolve) => void clock.schedule(resolve, 60_000));
          return "done";
        }),
      };
      const runs = createRuns({ database, agents, clock, logger: () => {} });
      const other = createRuns({ database, agents, clock, logger: () => {} });
      await runs.resume();
      await other.resume();
      const { id } = await runs.start({ ...start, agent: "long" });
      await runs.start({ ...start, agent: "bad" }).catch(() => {});
      await clock.advance(70_000);
      assertEquals([begun, (await runs.get(id))?.state], [1, "succeeded"]);
      await Promise.all([runs.close(), other.close()]);
      database.close?.();
    });
  }

  test("a damaged one can be deleted; a damaged event is told", { skip }, async () => {
    const database = await emptyDatabase();
    const agent = agentOf(() => Promise.resolve("done"));
    const runs = createRuns({ database, agents: { agent } });
    const ids = [(await runs.start(start)).id, (await runs.start(start)).id];
    for (const id of ids) await eventsOf(runs, id);
    const [one = "", other = ""] = ids;
    database.run("update agent_events set event = '{' where run = ?", one);
    await assertRejects(() => eventsOf(runs, one), McpError, "Cannot read the database of runs");
    database.run("update agent_runs set state = 'odd' where id = ?", other);
    assertEquals([await runs.forget(other), await runs.get(other)], [true, undefined]);
    await runs.close();
    database.close?.();
  });

  test("old runs are deleted, and nothing stays of them", { skip }, async () => {
    const clock = new VirtualClock();
    const database = await emptyDatabase();
    const agent = createScriptedAgent({ rounds: 2, call: () => Promise.resolve("ok") });
    const asking = agentOf(async (world) => (await ask(world, "well?")).action);
    const options = {
      database,
      agents: { agent, asking },
      clock,
      limits: { kept: 3 },
      retention: 3_600_000,
      watchdog: 300_000,
    };
    const runs = createRuns(options);
    await runs.resume();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.push((await runs.start(start)).id);
    const waiting = await runs.start({ ...start, agent: "asking" });
    await clock.advance(61_000);
    assertEquals((await runs.list()).map(({ id }) => id), [waiting.id, ...ids.slice(2).reverse()]);
    await clock.advance(3_700_000);
    assertEquals((await runs.list()).map(({ id }) => id), [waiting.id]);
    assertEquals(await runs.forget(waiting.id), true);
    const tables = database.all("select name from sqlite_master where type = 'table' and name like 'agent_%'");
    for (const { name } of tables) {
      const rows = database.all(`select count(*) as count from ${String(name)}`);
      assertEquals([name, rows[0]?.["count"]], [name, name === "agent_schema" ? 1 : 0]);
    }
    await runs.close();
    database.close?.();
  });
});
