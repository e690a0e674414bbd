/** What is kept of runs, sealed: nobody reads it without the secret, and no row opens in another place. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { McpError } from "../../../mod.ts";
import { createRuns } from "../../../src/agent/mod.ts";
import type { DurableRuns, RunsOptions } from "../../../src/agent/mod.ts";
import type { SqlDatabase } from "../../../src/ports.ts";
import { canaries, dump, findCanaries, plantCanaries, tellTale } from "./support/canaries.ts";
import { emptyDatabase, skip } from "./support/database.ts";
import { checkEvents, eventsOf, reach, secret, start, untilLeft } from "./support/runs.ts";
import { agentOf, ask } from "./support/scripted_agent.ts";

const agents = {
  tellTale,
  asking: agentOf(async (world) => {
    const kept = await world.steps.do("kept", { argumentsHash: "00" }, () => Promise.resolve(`kept by ${world.id}`));
    return `${kept} ${(await ask(world, "well?")).action}`;
  }),
};
const other = "another secret of the tests";

function open(database: SqlDatabase, options: Omit<RunsOptions, "database" | "agents"> = { secret }): DurableRuns {
  return createRuns({ database, agents, watchdog: 500, ...options });
}

/** Two runs that wait for an answer; they are given back, so that whoever comes next begins them again. */
async function startTwo(database: SqlDatabase, options?: Omit<RunsOptions, "database" | "agents">): Promise<string[]> {
  const runs = open(database, options);
  const ids = ["the_first_run_of_two", "the_second_run_of_two"];
  for (const id of ids) await runs.start({ ...start, agent: "asking", id });
  for (const id of ids) await reach(runs, id, "needs_input");
  for (const id of ids) await untilLeft(database, id);
  await runs.close();
  return ids;
}

async function finish(runs: DurableRuns, id: string): Promise<unknown> {
  assertEquals(await runs.answer(id, "well?", { action: "accept" }), "taken");
  const events = await eventsOf(runs, id);
  checkEvents(events);
  const end = events.at(-1)?.event;
  return end?.type === "succeeded" ? end.text : end;
}

describe("a database of runs with a secret", () => {
  test("holds none of twelve kinds of secrets in any form; without, it holds all of them", { skip }, async () => {
    for (const more of [{ secret }, {}]) {
      const database = await emptyDatabase();
      const runs = open(database, more);
      const id = await plantCanaries(runs);
      const found = findCanaries(dump(database));
      assertEquals(found, "secret" in more ? [] : Object.keys(canaries));
      const events = await eventsOf(runs, id);
      checkEvents(events);
      const told = events.map(({ event }) => "text" in event ? event.text : "").join();
      assert(told.includes(canaries.environment) && told.includes(canaries["session id"]));
      const { end } = (await runs.get(id))!;
      assertEquals(end?.type === "succeeded" && end.text, canaries.state);
      await runs.close();
      database.close?.();
    }
  });

  test("a text comes back letter by letter, however long and strange", { skip }, async () => {
    const database = await emptyDatabase();
    // Parts end after 262,144 characters: the next one begins with what many take for a mark of the byte order.
    const strange = ["", "\uFEFF", "x".repeat(262_143) + "\uFEFF\uFEFF", "\u{1F600}".repeat(140_000), "\ud800\0"];
    const agent = agentOf(async ({ steps }) => {
      const seen: string[] = [];
      for (const [at, text] of strange.entries()) {
        seen.push(await steps.do(`${at}`, {}, () => Promise.resolve(text)));
      }
      const given = await steps.waitForEvent("again", { type: "again" });
      assertEquals(given.payload, strange);
      return seen.every((text, at) => text === strange[at]) ? "the same" : "others";
    });
    const runs = createRuns({ database, agents: { agent }, secret });
    const { id } = await runs.start(start);
    await reach(runs, id, "needs_input");
    await untilLeft(database, id);
    await runs.send(id, "again", strange);
    const { end } = await reach(runs, id, "succeeded");
    assertEquals(end?.type === "succeeded" && end.text, "the same");
    await runs.close();
    database.close?.();
  });

  test("a row that was moved, changed or put in plainly is refused", { skip }, async () => {
    const [one, two] = ["the_first_run_of_two", "the_second_run_of_two"];
    const step = "kind = 'step' and name = 'kept'";
    const wrongs: Readonly<Record<string, readonly string[]>> = {
      "a result of another run": [
        `update agent_texts set text = (select text from agent_texts where run = '${two}' and ${step}) where run = '${one}' and ${step}`,
      ],
      "another text of the same run": [
        `update agent_texts set text = (select text from agent_texts where run = '${one}' and kind = 'task') where run = '${one}' and ${step}`,
      ],
      "a plain result": [`update agent_texts set text = '"forged"' where run = '${one}' and ${step}`],
      "a changed byte": [
        `update agent_texts set text = cast(substr(text, 1, length(text) - 1) ||
          case substr(text, -1) when x'00' then x'01' else x'00' end as blob) where run = '${one}' and ${step}`,
      ],
      "a short one": [`update agent_texts set text = x'00' where run = '${one}' and ${step}`],
      "another hash": [
        `update agent_steps set arguments_hash = (select arguments_hash from agent_steps where run = '${two}') where run = '${one}'`,
      ],
      "the key of another run": [
        `update agent_keys set key = (select key from agent_keys where run = '${two}') where run = '${one}'`,
      ],
      "no key": [`delete from agent_keys where run = '${one}'`],
      "another principal": [`update agent_runs set principal = 'eve' where id = '${one}'`],
      "another agent": [`update agent_runs set agent = 'tellTale' where id = '${one}'`],
    };
    for (const [wrong, statements] of Object.entries(wrongs)) {
      const database = await emptyDatabase();
      await startTwo(database);
      for (const statement of statements) database.run(statement);
      const reasons: string[] = [];
      const runs = open(database, {
        secret,
        limits: { resumes: 0 },
        logger: ({ fields }) => reasons.push(String(fields?.["reason"])),
      });
      await runs.answer(one, "well?", { action: "accept" }).catch((error: unknown) => reasons.push(String(error)));
      assertEquals(await finish(runs, two), `kept by ${two} accept`, `${wrong}: the other run goes on`);
      for (let turn = 0; turn < 4_000 && reasons.length === 0; turn++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert(
        reasons.some((reason) => /does not open|is not sealed|moved or changed/.test(reason)),
        `${wrong}: ${reasons}`,
      );
      const end = (await runs.get(one).catch(() => undefined))?.end;
      assert(end?.type !== "succeeded", `${wrong}: ${JSON.stringify(end)}`);
      await runs.close();
      database.close?.();
    }
  });

  test("an event that changed places is refused", { skip }, async () => {
    const database = await emptyDatabase();
    const runs = open(database);
    const id = await plantCanaries(runs);
    const where = `run = '${id}' and sequence`;
    database.run(
      `update agent_events set event = (select event from agent_events where ${where} = 1) where ${where} = 3`,
    );
    await assertRejects(() => eventsOf(runs, id), McpError, "does not open");
    await runs.close();
    database.close?.();
  });

  test(
    "the wrong secret, none, and another tenant's are refused with one error, and nothing is lost",
    { skip },
    async () => {
      const database = await emptyDatabase();
      const [one = "", two = ""] = await startTwo(database, { secret, tenant: "a" });
      const before = dump(database);
      const refused: readonly [Omit<RunsOptions, "database" | "agents">, string][] = [
        [{ secret: other, tenant: "a" }, "another secret or for another tenant"],
        [{ secret }, "another secret or for another tenant"],
        [{ secret, tenant: "b" }, "another secret or for another tenant"],
        [{ secret: [other, new TextEncoder().encode(other + other)], tenant: "a" }, "another secret"],
        [{}, `expected the "secret"`],
      ];
      for (const [options, words] of refused) {
        const error = assertThrows(() => open(database, options), McpError);
        assert(error.message.includes(words) && !error.message.includes(secret), error.message);
      }
      assertEquals(dump(database), before);
      const runs = open(database, { secret: new TextEncoder().encode(secret), tenant: "a" });
      for (const id of [one, two]) assertEquals(await finish(runs, id), `kept by ${id} accept`);
      await runs.close();
      database.close?.();
    },
  );

  test(
    "a new secret is put in front, and the old one dropped after one start; who has not heard of it writes nothing",
    {
      skip,
    },
    async () => {
      const database = await emptyDatabase();
      const [one = "", two = ""] = await startTwo(database);
      const late = open(database);
      const rotating = open(database, { secret: [other, secret] });
      assertEquals(await finish(rotating, one), `kept by ${one} accept`);
      await assertRejects(() => late.answer(two, "well?", { action: "accept" }), McpError, "another secret");
      await assertRejects(() => late.start({ ...start, agent: "asking" }), McpError, "another secret");
      await assertRejects(() => late.get(two), McpError, "another secret");
      await Promise.all([rotating.close(), late.close()]);
      assertThrows(() => open(database), McpError, "another secret");
      const next = open(database, { secret: other });
      assertEquals((await eventsOf(next, one)).length, 3);
      assertEquals(await finish(next, two), `kept by ${two} accept`);
      await next.close();
      database.close?.();
    },
  );

  test("two that know both secrets work side by side, whichever is in front", { skip }, async () => {
    const database = await emptyDatabase();
    const first = open(database, { secret: [secret, other] });
    const second = open(database, { secret: [other, secret] });
    const ids: string[] = [];
    for (const runs of [first, second, first, second]) ids.push((await runs.start({ ...start, agent: "asking" })).id);
    for (const [at, id] of ids.entries()) {
      await reach(first, id, "needs_input");
      assertEquals(await finish(at < 2 ? second : first, id), `kept by ${id} accept`);
    }
    await Promise.all([first.close(), second.close()]);
    // All of it is sealed by the one that was put in force last.
    const last = open(database, { secret: other });
    for (const id of ids) checkEvents(await eventsOf(last, id));
    await last.close();
    database.close?.();
  });

  test("what was kept without a secret is sealed with the first one, and goes on", { skip }, async () => {
    const database = await emptyDatabase();
    const plain = open(database, {});
    const id = await plantCanaries(plain, "needs_input");
    const { id: asking } = await plain.start({ ...start, agent: "asking" });
    await reach(plain, asking, "needs_input");
    for (const waiting of [id, asking]) await untilLeft(database, waiting);
    assert(findCanaries(dump(database)).length > 5);
    const runs = open(database);
    assertEquals(findCanaries(dump(database)), []);
    await assertRejects(() => plain.start({ ...start, agent: "asking" }), McpError, "it is sealed");
    await assertRejects(() => plain.get(id), McpError, `"secret" is missing`);
    await plain.close();
    assertEquals(await finish(runs, asking), `kept by ${asking} accept`);
    await runs.answer(id, "well?", { action: "decline", reason: canaries.password });
    await runs.send(id, "sent");
    await reach(runs, id, "succeeded");
    checkEvents(await eventsOf(runs, id));
    await runs.close();
    database.close?.();
  });

  test("secrets that are none, and databases that cannot seal, are named", { skip }, async () => {
    const database = await emptyDatabase();
    assertThrows(() => open(database, { secret: "too short" }), RangeError, `"secret" has 9 bytes`);
    assertThrows(() => open(database, { secret: [secret, "too short"] }), RangeError, `"secret" has 9 bytes`);
    assertThrows(() => open(database, { secret: [] }), TypeError, `"secret" has none`);
    const wrong: object[] = [{ secret: 17 }, { secret: null }, { tenant: 17 }];
    for (const options of wrong) assertThrows(() => open(database, options), TypeError);
    const { all, run, transaction } = database;
    const bare: SqlDatabase = {
      all: all.bind(database),
      run: run.bind(database),
      transaction: transaction.bind(database),
    };
    assertThrows(() => open(bare), TypeError, "nodejs_compat");
    database.close?.();
  });
});
