/** The tables of runs: made once, brought forward, and refused where a newer program wrote them. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { McpError } from "../../../mod.ts";
import { createRuns } from "../../../src/agent/mod.ts";
import { migrate } from "../../../src/agent/runs/tables/schema.ts";
import { emptyDatabase, meddleWith, skip } from "./support/database.ts";
import { eventsOf, reach, secret, start, untilLeft } from "./support/runs.ts";
import { agentOf, ask } from "./support/scripted_agent.ts";

describe("the tables of runs", () => {
  test("are brought forward one version after another, each once", { skip }, async () => {
    const database = await emptyDatabase();
    const first = ["create table agent_one (number integer)"];
    const second = ["create table agent_two (number integer)", "insert into agent_two values (1)"];
    const third = ["update agent_two set number = number + 1"];
    const version = () => database.all("select version from agent_schema")[0]?.["version"];
    migrate(database, [first]);
    assertEquals(version(), 1);
    migrate(database, [first, second, third]);
    migrate(database, [first, second, third]);
    assertEquals([version(), database.all("select number from agent_two")[0]?.["number"]], [3, 2]);
    assertThrows(() =>
      migrate(database, [first, second, third, ["insert into agent_two values (9)", "no such words"]])
    );
    assertEquals(
      [version(), database.all("select number from agent_two").length],
      [3, 1],
      "a version is whole or not there",
    );
    database.close?.();
  });

  test("a run that waits goes on with a newer version of the program", { skip }, async () => {
    const database = await emptyDatabase();
    const agent = agentOf(async (world) => {
      const kept = await world.steps.do("first", {}, () => Promise.resolve("kept"));
      return `${kept} ${(await ask(world, "well?")).action}`;
    });
    const old = createRuns({ database, agents: { agent } });
    const { id } = await old.start(start);
    await reach(old, id, "needs_input");
    await old.close();
    const version = Number(database.all("select version from agent_schema")[0]?.["version"]);
    const steps = Array.from({ length: version }, () => ["select 1"]);
    migrate(database, [...steps, ["alter table agent_runs add column note text"]]);
    const refused = assertThrows(() => createRuns({ database, agents: { agent } }), McpError);
    assert(refused.message.includes("newer program"), refused.message);
    database.run("update agent_schema set version = ?", version);
    const next = createRuns({ database, agents: { agent } });
    assertEquals(await next.answer(id, "well?", { action: "accept" }), "taken");
    const end = (await eventsOf(next, id)).at(-1)?.event;
    assertEquals(end?.type === "succeeded" && end.text, "kept accept");
    await next.close();
    database.close?.();
  });

  for (const more of [{}, { secret }]) {
    const words = "secret" in more ? ", and is sealed" : "";
    test(`a database of version 1 goes on where it was${words}`, { skip }, async () => {
      const database = await emptyDatabase();
      const agent = agentOf(async (world) => {
        const kept = await world.steps.do("first", { argumentsHash: "00" }, () => Promise.resolve("kept"));
        return `${kept} ${(await ask(world, "well?")).action}`;
      });
      const old = createRuns({ database, agents: { agent } });
      const { id } = await old.start(start);
      await reach(old, id, "needs_input");
      await untilLeft(database, id);
      await old.close();
      // What the first version had not.
      database.run("drop table agent_keys");
      for (const column of ["salt", "secret"]) database.run(`alter table agent_schema drop column ${column}`);
      database.run("update agent_schema set version = 1");
      const next = createRuns({ database, agents: { agent }, ...more });
      const answers = database.all("select text from agent_texts").map(({ text }) => typeof text === "string");
      assertEquals(new Set(answers), new Set([!("secret" in more)]));
      assertEquals(await next.answer(id, "well?", { action: "accept" }), "taken");
      const end = (await eventsOf(next, id)).at(-1)?.event;
      assertEquals(end?.type === "succeeded" && end.text, "kept accept");
      assertEquals(database.all("select version from agent_schema")[0]?.["version"], 2);
      await next.close();
      database.close?.();
    });
  }

  test("options that make no sense are named", { skip }, async () => {
    const database = await emptyDatabase();
    const wrong: readonly [object, string][] = [
      [{ watchdog: 99 }, `"watchdog"`],
      [{ watchdog: NaN }, `"watchdog"`],
      [{ retention: -1 }, `"retention"`],
      [{ drain: 0.5 }, `"drain"`],
      [{ limits: { open: 0 } }, `"limits.open"`],
      [{ limits: { everything: 1 } }, `"everything"`],
      [{ agents: undefined }, `"agents"`],
      [{ database: {} }, `"database"`],
    ];
    for (const [option, words] of wrong) {
      const error = assertThrows(() => createRuns({ database, agents: {}, ...option }), TypeError);
      assert(error.message.includes(words), error.message);
    }
    database.close?.();
  });
});

test("no statement goes through all runs: each finds those it is about by an index", { skip }, async () => {
  const database = await emptyDatabase();
  const said = new Set<string>();
  const agent = agentOf(async (world) => (await ask(world, "well?")).action);
  const runs = createRuns({
    database: meddleWith(database, { before: (sql) => void said.add(sql) }),
    agents: { agent },
    watchdog: 100,
  });
  const { id } = await runs.start(start);
  await untilLeft(database, id);
  await runs.resume();
  await runs.list({ principal: "ada", state: "needs_input" });
  await runs.countOpen?.();
  await runs.answer(id, "well?", { action: "accept" });
  await eventsOf(runs, id);
  await runs.close();
  const plans = [...said].filter((sql) => /^\s*(select|update|delete)\b[^]*\bagent_runs\b/.test(sql)).map((sql) => {
    const rows = database.all(`explain query plan ${sql}`, ...(sql.match(/\?/g) ?? []).map(() => null));
    return { sql, plan: rows.map(({ detail }) => String(detail)).join("; ") };
  });
  assert(plans.length > 10, JSON.stringify(plans));
  // All entries of an index that has what is asked are only counted.
  assertEquals(plans.filter(({ plan }) => /SCAN agent_runs(?! USING COVERING)/.test(plan)), []);
  database.close?.();
});
