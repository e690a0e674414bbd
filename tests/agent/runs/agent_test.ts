/** Agents that use tools, in runs that are kept. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent, createRuns } from "../../../src/agent/mod.ts";
import type { AgentQuestion, AgentTool, DurableRuns, Runs } from "../../../src/agent/mod.ts";
import type { LanguageModelRequest } from "../../../src/agent/model/seam.ts";
import { call, type Line, ScriptedModel } from "../loop/support/scripted.ts";
import { openScene } from "../loop/support/scene.ts";
import { canonicalJson } from "../../../src/hub/pins/canonical.ts";
import { sha256 } from "../../../src/protocol/web_crypto.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { emptyDatabase, skip } from "./support/database.ts";
import { eventsOf, reach, untilLeft } from "./support/runs.ts";

async function until<Value>(look: () => Promise<Value | undefined>): Promise<Value> {
  for (let turn = 0; turn < 4_000; turn++) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("It does not come");
}

const waiting = (runs: Runs, id: string) =>
  until(async () => {
    const record = await runs.get(id);
    return record?.questions.length ? record.questions : record?.end ? [] : undefined;
  });

const answerTo = ({ kind, message }: AgentQuestion) =>
  kind === "elicitation"
    ? { action: "accept", content: message.includes("town") ? { town: "York" } : { name: "Ada" } } as const
    : { action: "accept" } as const;

describe("an agent in runs that are kept", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`waits for people, goes on in another process, and does nothing twice (${era})`, { skip }, async () => {
      await using scene = await openScene(era);
      const model = new ScriptedModel(({ messages }) => {
        const turns = messages.filter(({ role }) => role === "assistant").length;
        if (turns === 0) {
          return {
            text: ["a", "b"],
            calls: [call("data__write", { text: "A" }, "a"), call("data__register", {}, "c")],
          };
        }
        if (turns === 1) return { calls: [call("data__write", { text: "B" }, "e")] };
        return { text: "done" };
      });
      const agent = new Agent({ model, hub: scene.hub, relay: scene.relay });
      const database = await emptyDatabase();
      let runs = createRuns({ database, agents: { agent } });
      const { id } = await runs.start({ agent: "agent", principal: "ada", input: "Go" });
      for (let turn = 0; turn < 20; turn++) {
        const [question] = await waiting(runs, id);
        if (!question) break;
        const isLive = era === "legacy" && question.kind === "elicitation";
        if (!isLive) {
          await untilLeft(database, id);
          await runs.close();
          runs = createRuns({ database, agents: { agent } });
        }
        assertEquals(await runs.answer(id, question.id, answerTo(question)), "taken");
        await until(async () =>
          (await runs.get(id))?.questions.some((one) => one.id === question.id) ? undefined : true
        );
      }
      const { end, unknown, steps } = await until(async () => {
        const record = await runs.get(id);
        return record?.end && record;
      });
      assertEquals([end?.type, unknown, steps, model.asked.length], ["succeeded", [], 3, 3]);
      assertEquals([...scene.ledger].sort(), [
        'register {"name":"Ada","town":"York"}',
        'write {"text":"A"}',
        'write {"text":"B"}',
      ]);
      const events = [];
      for await (const event of runs.events(id)) events.push(event);
      assertEquals(events.map(({ sequence }) => sequence), events.map((_, index) => index + 1));
      const types = events.map(({ event }) => event.type);
      assertEquals(types.filter((type) => type === "observation").length, 3);
      assertEquals(
        types.filter((type) => type === "question").length,
        types.filter((type) => type === "answered").length,
      );
      assertEquals([types.at(-1), types.filter((type) => type === "restarted").length], ["succeeded", 0]);
      assert(!JSON.stringify(events.filter(({ event }) => event.type === "answered")).includes("Ada"));
      await runs.close();
    });
  }

  test(
    "binds each call to its arguments, so that another process does no other call in its place",
    { skip },
    async () => {
      await using scene = await openScene();
      const model = new ScriptedModel([{ calls: [call("data__write", { text: "A" }, "a")] }, { text: "done" }]);
      const agent = new Agent({ model, hub: scene.hub, approve: "allow" });
      const database = await emptyDatabase();
      const runs = createRuns({ database, agents: { agent } });
      const { id } = await runs.start({ agent: "agent", principal: "ada", input: "Go" });
      await until(async () => (await runs.get(id))?.end);
      const steps = database.all("select name, arguments_hash from agent_steps where name like 'call:%'");
      const expected = await sha256(canonicalJson({ text: "A" }));
      assertEquals(steps.map((row) => row["arguments_hash"]), [expected]);
      await runs.close();
    },
  );

  test("is cancelled from outside, in the middle of a call", { skip }, async () => {
    await using scene = await openScene();
    const model = new ScriptedModel([{ calls: [call("data__hang")] }]);
    const agent = new Agent({ model, hub: scene.hub, approve: "allow" });
    const runs = createRuns({ database: await emptyDatabase(), agents: { agent } });
    const { id } = await runs.start({ agent: "agent", principal: "ada", input: "Go" });
    await until(() => Promise.resolve(scene.ledger[0]));
    await runs.cancel(id, "enough");
    const { end } = await until(async () => {
      const record = await runs.get(id);
      return record?.end && record;
    });
    assertEquals(end?.type === "cancelled" && end.reason, "enough");
    await until(() => Promise.resolve(scene.ledger[1]));
    assertEquals(scene.ledger[1], "hang stopped");
    await runs.close();
  });

  test("goes on when a call gave more than can be kept: it has run, and is not made again", { skip }, async () => {
    for (const readOnly of [true, false]) {
      let calls = 0;
      const much: AgentTool = {
        name: "much",
        description: "Gives much",
        readOnly,
        run: () => `${++calls}`.repeat(30_000),
      };
      const act: AgentTool = { name: "act", description: "Acts", run: () => "acted" };
      const model = new ScriptedModel([{ calls: [call("much")] }, { calls: [call("act")] }, { text: "done" }]);
      const approve = ({ name }: { readonly name: string }) => name === "much" ? true : undefined;
      const database = await emptyDatabase();
      const options = {
        database,
        limits: { valueBytes: 20_000 },
        agents: { agent: new Agent({ model, tools: [much, act], approve }) },
      };
      const first = createRuns(options);
      const { id } = await first.start({ agent: "agent", principal: "ada", input: "Go" });
      const [question] = await waiting(first, id);
      assert(question, JSON.stringify((await first.get(id))?.end));
      await first.close();
      await using runs = createRuns(options);
      await runs.answer(id, question.id, { action: "accept" });
      const { end } = await until(async () => {
        const record = await runs.get(id);
        return record?.end && record;
      });
      assertEquals([end?.type, calls, model.asked.length], ["succeeded", 1, 3]);
      const told = (await eventsOf(runs, id)).flatMap(({ event }) =>
        event.type === "observation" ? [event.observation] : []
      );
      assertEquals(told.map(({ tool, outcome }) => [tool, outcome]), [["much", "tool_error"], ["act", "ok"]]);
      assert(JSON.stringify(told[0]?.result).includes("more than can be kept"), JSON.stringify(told[0]));
    }
  });

  test("whose time is over while nobody holds it tells all that it has used", { skip }, async () => {
    const clock = new VirtualClock();
    const usage = { inputTokens: 10, outputTokens: 5 };
    const model = new ScriptedModel((_, count) => ({ calls: [call("act", {}, `${count}`)], usage }));
    const act: AgentTool = { name: "act", description: "Acts", run: () => "acted" };
    const agent = new Agent({ model, tools: [act], timeout: 60_000, clock });
    await using runs = createRuns({ database: await emptyDatabase(), agents: { agent }, clock });
    await runs.resume();
    const { id } = await runs.start({ agent: "agent", principal: "ada", input: "Go" });
    await clock.advance(10_000);
    assertEquals(await runs.answer(id, "approval:1.1", { action: "accept" }), "taken");
    await clock.advance(20_000);
    assertEquals((await runs.get(id))?.questions.map((question) => question.id), ["approval:2.1"]);
    await clock.advance(60_000);
    const record = await runs.get(id);
    assertEquals(record?.end?.type === "failed" && record.end.error.code, "deadline");
    const spent = [{ inputTokens: 20, outputTokens: 10 }, 2];
    assertEquals([[record?.usage, record?.steps], [record?.end?.usage, record?.end?.steps]], [spent, spent]);
    assertEquals((await eventsOf(runs, id)).at(-1)?.event, record?.end);
  });

  test("whose time is over in the middle of a call: it may have run, and the record says so", { skip }, async () => {
    await using scene = await openScene();
    const model = new ScriptedModel([{ calls: [call("data__hang")] }]);
    const clock = new VirtualClock();
    const agent = new Agent({ model, hub: scene.hub, approve: "allow", timeout: 1_000, clock });
    const database = await emptyDatabase();
    await using runs = createRuns({ database, agents: { agent }, clock });
    const { id } = await runs.start({ agent: "agent", principal: "ada", input: "Go" });
    await until(() => Promise.resolve(scene.ledger.length || undefined));
    await clock.advance(1_000);
    const { end, unknown } = await until(async () => {
      const record = await runs.get(id);
      return record?.end && record;
    });
    assertEquals([end?.type === "failed" && end.error.code, unknown], ["deadline", ["call:1.1"]]);
    const outcomes: string[] = [];
    for await (const { event } of runs.events(id)) {
      if (event.type === "observation") outcomes.push(event.observation.outcome);
    }
    assertEquals(outcomes, ["unknown"]);
  });
});

const long = "word ".repeat(400);

/** Reads five times, does what needs a yes, and wants the first result again. */
function readAgain({ messages }: LanguageModelRequest): Line {
  const turns = messages.filter(({ role }) => role === "assistant").length;
  if (turns < 5) return { calls: [call("read", { at: turns }, `c${turns}`)] };
  if (turns === 5) return { calls: [call("act", {}, "a")] };
  return turns === 6 ? { calls: [call("recall_result", { id: "c0" }, "again")] } : { text: "done" };
}

describe("a run with settings of its own", () => {
  test("has them in the process that goes on with it; wrong ones start nothing", { skip }, async () => {
    const database = await emptyDatabase();
    const model = new ScriptedModel(({ messages }) =>
      messages.some(({ role }) => role === "tool")
        ? { text: "done" }
        : { calls: [call("act", {}, "a")], usage: { inputTokens: 1, outputTokens: 30 } }
    );
    const tools: AgentTool[] = [{ name: "act", description: "Acts", run: () => "it was done" }];
    const open = (): DurableRuns => createRuns({ database, agents: { agent: new Agent({ model, tools }) } });
    const first = open();
    const task = { agent: "agent", principal: "ada", input: "Go" };
    const settings = { temperature: 0.5, maxOutputTokens: 100, stopSequences: ["END"] };
    const { id } = await first.start({ ...task, settings });
    const { questions: [question] } = await reach(first, id, "needs_input");
    await assertRejects(() => first.start({ ...task, settings: { maxOutputTokens: 0 } }), TypeError, "maxOutputTokens");
    assertEquals((await first.list()).length, 1);
    await first.close();
    await using second = open();
    await second.resume();
    await second.answer(id, question!.id, { action: "accept" });
    await reach(second, id, "succeeded");
    const told = model.asked.map((
      { temperature, maxOutputTokens, stopSequences },
    ) => [temperature, maxOutputTokens, stopSequences]);
    assertEquals(told, [[0.5, 100, ["END"]], [0.5, 70, ["END"]]]);
    await second.close();
    database.close?.();
  });
});

describe("a run whose model reads little", () => {
  for (const secret of [undefined, "sixteen bytes or more"]) {
    test(`has back what was cut before the process ended${secret ? ", sealed" : ""}`, { skip }, async () => {
      const database = await emptyDatabase();
      const called: string[] = [];
      const tools: AgentTool[] = [
        {
          name: "read",
          description: "Reads",
          readOnly: true,
          run: ({ at }) => (called.push(`read ${at}`), `${at} ${long}`),
        },
        { name: "act", description: "Acts", run: () => (called.push("act"), "it was done") },
      ];
      const open = (): DurableRuns => {
        const agent = new Agent({ model: new ScriptedModel(readAgain, 2_000), tools });
        return createRuns({ database, agents: { agent }, ...(secret !== undefined && { secret }) });
      };
      const first = open();
      const { id } = await first.start({ agent: "agent", principal: "ada", input: "Go" });
      const { questions: [question] } = await reach(first, id, "needs_input");
      await first.close();
      await using second = open();
      await second.resume();
      await second.answer(id, question!.id, { action: "accept" });
      const { end } = await reach(second, id, "succeeded");
      assert(end?.type === "succeeded");
      const seen = (await eventsOf(second, id)).flatMap(({ event }) =>
        event.type === "observation" ? [event.observation] : []
      );
      const last = seen.at(-1);
      assertEquals([last?.tool, last?.outcome], ["recall_result", "ok"]);
      const [block] = last?.result.content ?? [];
      assertEquals(block?.type === "text" && block.text, `0 ${long}`);
      assertEquals(called, [...Array.from({ length: 5 }, (_, at) => `read ${at}`), "act"]);
      await second.close();
      database.close?.();
    });
  }
});
