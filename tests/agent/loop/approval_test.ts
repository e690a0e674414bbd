import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentOptions, AgentQuestion, AnswerQuestion } from "../../../src/agent/mod.ts";
import type { CatalogTool, QualifiedName } from "../../../src/hub/seam.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { FakeHub } from "../../hub/support/fake_hub.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { gather, openScene } from "./support/scene.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

const wanted = { calls: [call("data__write", { text: "A" }), call("data__fetch_data", { city: "Bonn" })] };

/** What became of a call that writes and one that reads, who was asked, and what the server did. */
async function decide(options: Partial<AgentOptions>, questions?: AnswerQuestion) {
  await using scene = await openScene();
  const asked: AgentQuestion[] = [];
  const model = new ScriptedModel([wanted, { text: "done" }]);
  const run = new Agent({ model, hub: scene.hub, ...options }).run("Go", {
    questions: questions && ((question, context) => {
      asked.push(question);
      return questions(question, context);
    }),
  });
  await run.result;
  return {
    outcomes: run.observations.map(({ tool, outcome }) => `${tool} ${outcome}`).sort(),
    asked,
    run,
    model,
    scene,
  };
}

test("a tool whose definition cannot be told apart from another one is not called", async () => {
  const inputSchema = { type: "object", properties: { n: { maximum: Infinity } } } as const;
  const hub = new FakeHub({ data: { tools: { odd: { inputSchema } } } });
  const model = new ScriptedModel([{ calls: [call("data__odd")] }, { text: "done" }]);
  const run = new Agent({ model, hub, approve: "allow" }).run("Go");
  await run.result;
  assertEquals([run.observations[0]?.outcome, hub.calls.length], ["not_called", 0]);
});

describe("approval", () => {
  test("where nobody can be asked, nothing that may change something is called; hints of servers count for nothing", async () => {
    const { outcomes, scene } = await decide({});
    assertEquals(outcomes, ["fetch_data denied", "write denied"]);
    assertEquals(scene.ledger, []);
  });

  test("the operator's word and trusted hints say what only reads", async () => {
    const trusted = await decide({ trustHintsOf: ["data"] });
    assertEquals([trusted.outcomes, trusted.scene.ledger.length], [["fetch_data ok", "write denied"], 1]);
    assertEquals((await decide({ readOnly: ["data.fetch_*"] })).outcomes, ["fetch_data ok", "write denied"]);
    assertEquals((await decide({ readOnly: ["other"] })).outcomes, ["fetch_data denied", "write denied"]);
  });

  test("a person sees exactly what would be sent, and the reason of a no reaches the model", async () => {
    const { outcomes, asked, model, scene } = await decide({ readOnly: ["data.fetch_*"] }, () => ({
      action: "decline",
      reason: "not on a Friday",
    }));
    assertEquals([outcomes, scene.ledger], [["fetch_data ok", "write denied"], ['fetch_data {"city":"Bonn"}']]);
    const [question] = asked;
    assert(question?.kind === "approval");
    assertEquals([question.id, question.server, question.call.arguments], ["approval:1.1", "data", { text: "A" }]);
    assertEquals([question.call.argumentsHash.length, question.call.toolHash?.length], [64, 64]);
    assert(JSON.stringify(model.asked[1]).includes("not on a Friday"));
  });

  test("only an accept is a yes", async () => {
    assertEquals((await decide({}, () => ({ action: "accept" }))).outcomes, ["fetch_data ok", "write ok"]);
    for (const action of ["cancel", "retry", "skip", "fail"] as const) {
      assertEquals((await decide({}, () => ({ action }))).outcomes, ["fetch_data denied", "write denied"]);
    }
  });

  test("a function decides first; undefined leaves it to a person", async () => {
    const seen: string[] = [];
    const { outcomes, asked } = await decide({
      approve: ({ server, name, args, tool }) => {
        seen.push(`${server} ${name} ${JSON.stringify(args)} ${tool?.qualifiedName}`);
        return name === "write" ? { approved: false, reason: "never" } : undefined;
      },
    }, () => ({ action: "accept" }));
    assertEquals(outcomes, ["fetch_data ok", "write denied"]);
    assertEquals(asked.length, 1);
    assertEquals(seen.sort(), [
      'data fetch_data {"city":"Bonn"} data__fetch_data',
      'data write {"text":"A"} data__write',
    ]);
    assertEquals((await decide({ approve: "deny" }, () => ({ action: "accept" }))).outcomes, [
      "fetch_data denied",
      "write denied",
    ]);
    const odd = (() => "yes") as unknown as NonNullable<AgentOptions["approve"]>;
    assertEquals((await decide({ approve: odd })).outcomes, ["fetch_data denied", "write denied"]);
    const whole = await decide({ approve: () => true });
    assertEquals(whole.outcomes, ["fetch_data ok", "write ok"]);
  });

  test("whoever reads the events can answer; an expired question is a no", async () => {
    await using scene = await openScene();
    const clock = new VirtualClock();
    const model = new ScriptedModel([wanted, { text: "done" }]);
    const agent = new Agent({ model, hub: scene.hub, clock, questionTimeout: 9_000 });
    const run = agent.run("Go", { questions: "wait" });
    const events = gather(run);
    while (run.questions.length < 2) await clock.settle();
    assertEquals(run.answer("approval:1.1", { action: "accept" }), true);
    assertEquals(run.answer("approval:1.1", { action: "accept" }), false);
    assertEquals(run.answer("approval:9.9", { action: "accept" }), false);
    assertEquals(run.questions.map(({ id, expiresAt, askedAt }) => [id, (expiresAt ?? 0) - askedAt]), [[
      "approval:1.2",
      9_000,
    ]]);
    await clock.advance(9_000);
    await run.result;
    const told = (await events).flatMap((event) => {
      if (event.type === "question") return [`${event.question.id} ?`];
      return event.type === "answered" ? [`${event.id} ${event.action}`] : [];
    });
    assertEquals(told, ["approval:1.1 ?", "approval:1.2 ?", "approval:1.1 accept", "approval:1.2 cancel"]);
    assertEquals(scene.ledger, ['write {"text":"A"}']);
  });

  test("a tool that goes, or changes each time, while a person is asked is not called", async () => {
    for (const fate of ["goes", "changes"] as const) {
      let asked = 0;
      const hub = new (class extends FakeHub {
        override findTool(name: QualifiedName): CatalogTool | undefined {
          const found = super.findTool(name);
          if (asked === 0) return found;
          return fate === "changes" && found ? { ...found, tool: { ...found.tool, title: `${asked}` } } : undefined;
        }
      })({ data: { tools: { write: {} } } });
      const model = new ScriptedModel([{ calls: [call("data__write")] }, { text: "done" }]);
      const run = new Agent({ model, hub }).run("Go", {
        questions: () => {
          asked++;
          return { action: "accept" };
        },
      });
      await run.result;
      assertEquals([asked, run.observations.map(({ outcome }) => outcome), hub.calls], [
        fate === "goes" ? 1 : 5,
        ["not_called"],
        [],
      ]);
    }
  });

  test("a tool that changes while its call waits for a place is asked about again, and called as it is then", async () => {
    const clock = new VirtualClock();
    const server = new McpServer({ name: "data", version: "1.0.0" });
    const made: string[] = [];
    let letGo = (): void => {};
    server.tool("hold", {}, () => new Promise<string>((resolve) => letGo = () => resolve("held")));
    const offer = (description: string) =>
      server.tool("write", { description }, () => (made.push(description), "written"));
    const withdraw = offer("Writes one");
    const { config } = inMemory(server, { concurrency: 1 });
    const hub = await clock.until(openHub({ data: config }, { clock }));
    const holding = hub.callTool("data__hold");
    await clock.settle();
    const model = new ScriptedModel([{ calls: [call("data__write")] }, { text: "done" }]);
    const asked: string[] = [];
    const run = new Agent({ model, hub, clock }).run("Go", {
      questions: ({ id }) => {
        asked.push(id);
        return { action: "accept" };
      },
    });
    const result = run.result;
    while (!hub.status()[0]?.queued) await clock.settle();
    withdraw();
    offer("Writes all");
    await clock.advance(10_000);
    assertEquals([asked, made], [["approval:1.1"], []]);
    letGo();
    await clock.until(result);
    await holding;
    assertEquals([asked, made], [["approval:1.1", "approval:1.1.2"], ["Writes all"]]);
    assertEquals(run.observations.map(({ outcome }) => outcome), ["ok"]);
    await clock.until(hub.close());
  });

  test("what no screen shows is pointed out, in the definition and in the arguments", async () => {
    const hub = new FakeHub({ one: { tools: { odd: { description: "Adds\u200b numbers" } } } });
    const model = new ScriptedModel([{ calls: [call("one__odd", { to: "bob\u202eecila", "k\u2060": [1] })] }, {
      text: "",
    }]);
    let hidden: readonly string[] | undefined;
    await new Agent({ model, hub }).run("Go", {
      questions: (question) => {
        if (question.kind === "approval") hidden = question.call.hidden;
        return { action: "cancel" };
      },
    }).result;
    assertEquals(hidden?.slice(0, 2), ["tool.description: U+200B", "arguments.to: U+202E"]);
    assert(hidden?.[2]?.endsWith(": in the name"), String(hidden));
  });

  test("a person who fails to answer fails the run, and nothing is called", async () => {
    await using scene = await openScene();
    const run = new Agent({ model: new ScriptedModel([wanted]), hub: scene.hub }).run("Go", {
      questions: () => Promise.reject(new Error("the phone is off")),
    });
    const end = await run.end;
    assertEquals(end.type === "failed" && [end.error.code, end.error.message], ["internal", "the phone is off"]);
    const told = (await gather(run)).findLast((event) => event.type === "usage");
    assert(told && told.usage.inputTokens > 0, "something was used");
    assertEquals([end.usage, end.steps], [told.usage, 1]);
    assertEquals(scene.ledger, []);
  });

  test("a function that never says anything holds up its run no longer than the run may last, or is cancelled", async () => {
    const clock = new VirtualClock();
    for (const timeout of [2_000, undefined]) {
      const model = new ScriptedModel([{ calls: [call("act")] }]);
      const act = { name: "act", description: "Acts", run: () => "acted" };
      const approve = () => new Promise<boolean>(() => {});
      const run = new Agent({ model, tools: [act], approve, clock, ...(timeout && { timeout }) }).run("Go");
      await clock.settle();
      if (timeout === undefined) run.cancel("enough");
      const end = await clock.until(run.end);
      assertEquals(end.type === "failed" ? end.error.code : end.type, timeout ? "deadline" : "cancelled");
    }
  });
});
