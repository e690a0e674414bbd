/** What a process that closes leaves to the next one. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createRuns } from "../../../../src/agent/mod.ts";
import type { DurableRuns, RunnableAgent } from "../../../../src/agent/mod.ts";
import type { SqlDatabase } from "../../../../src/ports.ts";
import { VirtualClock } from "../../../support/virtual_clock.ts";
import { emptyDatabase, skip } from "../support/database.ts";
import { eventsOf, start, wait } from "../support/runs.ts";
import { agentOf, ask } from "../support/scripted_agent.ts";

/** A run that begins in one process, which closes in the middle, and goes on in another; `owner` is whose it was in between. */
async function handOver(
  database: SqlDatabase,
  clock: VirtualClock,
  agent: RunnableAgent,
): Promise<{ id: string; two: DurableRuns; owner: unknown }> {
  const one = createRuns({ database, agents: { agent }, clock });
  const { id } = await one.start(start);
  await clock.advance(50);
  await clock.until(one.close());
  const owner = database.all("select owner from agent_runs where id = ?", id)[0]?.["owner"];
  const two = createRuns({ database, agents: { agent }, clock });
  await two.resume();
  return { id, two, owner };
}

describe("a process that closes", () => {
  test("branches that work side by side end, and the run goes on elsewhere", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(async ({ steps }) => {
      const chain = async (): Promise<string> => {
        for (let at = 0; at < 3; at++) await steps.do(`short:${at}`, { repeatable: true }, () => wait(clock, 100));
        return "short";
      };
      const long = steps.do("long", { repeatable: true }, () => wait(clock, 400).then(() => "long"));
      return (await Promise.all([long, chain()])).join(" ");
    });
    const { id, two } = await handOver(database, clock, agent);
    const end = (await clock.until(eventsOf(two, id))).at(-1)?.event;
    await two.close();
    assertEquals(end?.type === "succeeded" ? end.text : end, "long short");
  });

  test("a call that asks meanwhile is not left behind, nor what is beside it", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const done: string[] = [];
    const agent = agentOf(async (world) => {
      const call = world.steps.do("call", {}, async () => {
        await wait(clock, 100);
        return (await ask(world, "live?", { live: true })).action;
      }).catch((error) => error.name === "RunLeftError" ? Promise.reject(error) : String(error.name));
      const other = world.steps.do("other", {}, async () => {
        await wait(clock, 300);
        done.push("other");
        return "other";
      }).catch((error) => error.name === "RunLeftError" ? Promise.reject(error) : String(error.name));
      return (await Promise.all([call, other])).join(" ");
    });
    const { id, two, owner } = await handOver(database, clock, agent);
    const end = (await clock.until(eventsOf(two, id))).at(-1)?.event;
    await clock.advance(1_000);
    await two.close();
    assertEquals([owner, end?.type === "succeeded" && end.text, done], [null, "StepUnknownError other", [
      "other",
    ]]);
  });

  test("a server that asks meanwhile is not told no", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    let calls = 0;
    const agent = agentOf((world) =>
      world.steps.do("call", { repeatable: true }, async () => {
        calls++;
        await wait(clock, 100);
        // A server gets an error as the answer, and makes it the result of its tool.
        return await ask(world, "live?", { live: true }).then(({ action }) => action, () => "the tool failed");
      })
    );
    const { id, two } = await handOver(database, clock, agent);
    await clock.advance(200);
    await two.answer(id, "live?", { action: "accept" });
    const end = (await clock.until(eventsOf(two, id))).at(-1)?.event;
    await two.close();
    assertEquals([end?.type === "succeeded" && end.text, calls], ["accept", 2]);
  });

  test("keeps what is under way as long as it drains: nobody takes it away in the middle", { skip }, async () => {
    const database = await emptyDatabase();
    const clock = new VirtualClock();
    const agent = agentOf(({ steps }) => {
      const paid = steps.do("pay", {}, () => wait(clock, 20_000).then(() => "paid"));
      return paid.catch((error) => error.name === "StepUnknownError" ? "unknown" : Promise.reject(error));
    });
    const one = createRuns({ database, agents: { agent }, clock, drain: 30_000 });
    const two = createRuns({ database, agents: { agent }, clock });
    await two.resume();
    const { id } = await one.start(start);
    await clock.advance(50);
    await clock.until(one.close());
    const closedAt = clock.monotonic();
    const end = (await clock.until(eventsOf(two, id))).at(-1)?.event;
    await two.close();
    assertEquals(end?.type === "succeeded" ? end.text : end, "paid");
    assert(closedAt >= 20_000 && closedAt < 21_000, `it was closed after ${closedAt} ms`);
    assertEquals(clock.waiting, 0);
  });
});
