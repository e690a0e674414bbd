import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentAnswer, AgentQuestion, Observation } from "../../../src/agent/mod.ts";
import type { LanguageModelRequest } from "../../../src/agent/model/seam.ts";
import { TestJournal } from "./support/journal.ts";
import { openScene } from "./support/scene.ts";
import type { Scene } from "./support/scene.ts";
import { call, type Line, ScriptedModel } from "./support/scripted.ts";

/** Goes by what it reads, so that it says the same however often it is asked. */
function script({ messages }: LanguageModelRequest): Line {
  const turns = messages.filter(({ role }) => role === "assistant").length;
  if (turns === 0) {
    return {
      text: ["first", " turn"],
      calls: [
        call("data__write", { text: "A" }, "a"),
        call("data__fetch_data", { city: "Oslo" }, "b"),
        call("data__register", {}, "c"),
        call("data__nothing", {}, "d"),
      ],
    };
  }
  if (turns === 1) return { calls: [call("data__write", { text: "B" }, "e")] };
  return { text: "done" };
}

function answer({ kind, message }: AgentQuestion): AgentAnswer {
  if (kind === "decision") return { action: "skip" };
  if (kind !== "elicitation") return { action: "accept" };
  return { action: "accept", content: message.includes("town") ? { town: "York" } : { name: "Ada" } };
}

function agentOf({ hub, relay }: Scene): { agent: Agent; model: ScriptedModel } {
  const model = new ScriptedModel(script);
  return { model, agent: new Agent({ model, hub, relay, readOnly: ["*.fetch_*"] }) };
}

/** A run whose one call was begun by a process that has died. */
function openDoubt({ hub }: Scene): { agent: Agent; journal: TestJournal } {
  const model = new ScriptedModel(({ messages }) =>
    messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__write", { text: "A" })] }
  );
  const journal = new TestJournal();
  journal.rows.set("call:1.1", { state: "begun" });
  return { agent: new Agent({ model, hub, approve: "allow" }), journal };
}

function observations(journal: TestJournal): Observation[] {
  return [...journal.events.values()].flatMap((event) => event.type === "observation" ? [event.observation] : []);
}

describe("a run that begins again", () => {
  test("does nothing twice: the model is asked once for each step, and each call is made once", async () => {
    await using scene = await openScene();
    const { agent, model } = agentOf(scene);
    const journal = new TestJournal();
    const { end } = await journal.run(agent, { input: "Go" }, { answer });
    assertEquals(end.type, "succeeded");
    assertEquals(model.asked.length, 3);
    assertEquals([...scene.ledger].sort(), [
      'fetch_data {"city":"Oslo"}',
      'register {"name":"Ada","town":"York"}',
      'write {"text":"A"}',
      'write {"text":"B"}',
    ]);
    assertEquals(new Set(journal.works).size, journal.works.length);
    assertEquals([...journal.questions.values()].map(({ kind }) => kind).sort(), [
      "approval",
      "approval",
      "approval",
      "elicitation",
      "elicitation",
    ]);
    assertEquals(observations(journal).map(({ id, outcome }) => `${id} ${outcome}`).sort(), [
      "a ok",
      "b ok",
      "c ok",
      "d not_called",
      "e ok",
    ]);
    const types = [...journal.events.values()].map(({ type }) => type);
    assertEquals([types.at(-1), types.filter((type) => type === "restarted").length], ["succeeded", 0]);
    const ids = scene.metas.map((meta) => String(meta.traceparent).split("-")[1]);
    assertEquals(new Set(ids).size, 1, "all calls carry one trace");
    // Another process that finds it all done tells the same end.
    const asked = model.asked.length;
    assertEquals((await journal.run(agent, { input: "Go" })).end, end);
    assertEquals([model.asked.length, scene.ledger.length], [asked, 4]);
  });

  test("killed at each point, it ends all the same: nothing is lost, and no call is made twice", async () => {
    const whole = new TestJournal();
    await using first = await openScene();
    await whole.run(agentOf(first).agent, { input: "Go" }, { answer });
    let unknown = 0;
    let restarted = 0;
    for (let cut = 1; cut <= whole.points; cut++) {
      await using scene = await openScene();
      const { agent, model } = agentOf(scene);
      const journal = new TestJournal();
      const { end } = await journal.run(agent, { input: "Go" }, { cut, answer });
      assertEquals(end.type, "succeeded", `cut ${cut}: ${JSON.stringify(end)}`);
      const seen = observations(journal);
      assertEquals(seen.length, 5, `cut ${cut}`);
      for (
        const [id, entry] of [["a", 'write {"text":"A"}'], ["c", "register "], ["e", 'write {"text":"B"}']] as const
      ) {
        const times = scene.ledger.filter((line) => line.startsWith(entry)).length;
        const outcome = seen.find((one) => one.id === id)?.outcome;
        assert(times <= 1, `cut ${cut}: ${entry} was made ${times} times`);
        assert(times === 1 ? outcome !== "denied" : outcome === "unknown", `cut ${cut}: ${entry} ${times} ${outcome}`);
      }
      unknown += seen.filter(({ outcome }) => outcome === "unknown").length;
      const told = [...journal.events.values()].map(({ type }) => type);
      assertEquals(told.filter((type) => type === "succeeded" || type === "failed" || type === "cancelled").length, 1);
      restarted += told.filter((type) => type === "restarted").length;
      assert(model.asked.length <= 4, `cut ${cut}: the model was asked ${model.asked.length} times`);
      const texts = [...journal.events.values()].flatMap((event) => event.type === "text" ? [event.text] : []).join("");
      assert(texts.endsWith("done"), texts);
    }
    assert(unknown > 0 && restarted > 0, `${unknown} unknown, ${restarted} restarted`);
  });

  test("what may have run is asked about: made again, told, or the end of the run", async () => {
    for (const [action, expected] of [["retry", 2], ["skip", 1], ["fail", 1]] as const) {
      await using scene = await openScene();
      // It has run, and its process died before that was kept.
      const { agent, journal } = openDoubt(scene);
      scene.ledger.push('write {"text":"A"}');
      const decide = ({ kind }: AgentQuestion): AgentAnswer => kind === "decision" ? { action } : { action: "accept" };
      const { end } = await journal.run(agent, { input: "Go" }, { answer: decide });
      assertEquals(scene.ledger.length, expected);
      assertEquals([...journal.questions.values()].map(({ kind }) => kind), ["decision"]);
      if (action === "fail") assertEquals(end.type === "failed" && end.error.code, "unknown_outcome");
      else {assertEquals([end.type, observations(journal)[0]?.outcome], [
          "succeeded",
          action === "retry" ? "ok" : "unknown",
        ]);}
    }
  });

  test("what may have run still may have when the next try does not reach its server", async () => {
    await using scene = await openScene();
    const { agent, journal } = openDoubt(scene);
    let asked = 0;
    const decide = (): AgentAnswer => {
      void scene.hub.remove("data");
      return { action: asked++ < 1 ? "retry" : "skip" };
    };
    const { end } = await journal.run(agent, { input: "Go" }, { answer: decide });
    const [observation, ...others] = observations(journal);
    assertEquals([end.type, observation?.outcome, others.length], ["succeeded", "unknown", 0]);
    assertEquals([...journal.questions.values()].map(({ kind }) => kind), ["decision", "decision"]);
    const [block] = observation?.result.content ?? [];
    assertMatch(
      block?.type === "text" ? block.text : "",
      /may have run, or not: it was tried before, and then: .*was not called/,
    );
  });

  test("what may have run still may have when its tool is another one by then, and cannot be called any more", async () => {
    await using scene = await openScene();
    const { agent, journal } = openDoubt(scene);
    const { hub } = scene;
    let isOther = false;
    const findTool = hub.findTool.bind(hub);
    hub.findTool = (name) => {
      const found = findTool(name);
      if (!isOther || !found) return found;
      const inputSchema = { type: "object" as const, required: ["more"], properties: { more: { type: "string" } } };
      return { ...found, tool: { ...found.tool, inputSchema } };
    };
    const decide = (): AgentAnswer => {
      isOther = true;
      return { action: "retry" };
    };
    const { end } = await journal.run(agent, { input: "Go" }, { answer: decide });
    const [observation, ...others] = observations(journal);
    assertEquals([end.type, observation?.outcome, others.length], ["succeeded", "unknown", 0]);
    assertMatch(
      JSON.stringify(observation?.result),
      /may have run, or not: it was tried before, and then: .*wrong arguments/,
    );
  });

  test("what may have run still may have when a person says no to the next try, since its tool has changed", async () => {
    await using scene = await openScene();
    let isChanged = false;
    const hub = new Proxy(scene.hub, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (key !== "findTool") return typeof value === "function" ? value.bind(target) : value;
        return (name: string) => {
          const entry = target.findTool(name);
          return entry && isChanged ? { ...entry, tool: { ...entry.tool, description: "Another" } } : entry;
        };
      },
    });
    const model = new ScriptedModel([{ calls: [call("data__write", { text: "A" })] }, { text: "done" }]);
    const journal = new TestJournal();
    journal.rows.set("call:1.1", { state: "begun" });
    const decide = ({ id, kind }: AgentQuestion): AgentAnswer => {
      if (kind === "approval") return { action: id === "approval:1.1" ? "accept" : "decline" };
      isChanged = true;
      return { action: "retry" };
    };
    await journal.run(new Agent({ model, hub }), { input: "Go" }, { answer: decide });
    assertEquals([...journal.questions.keys()].at(-1), "approval:1.1.2");
    assertEquals([observations(journal).map(({ outcome }) => outcome), scene.ledger], [["unknown"], []]);
  });

  test("what the operator calls idempotent is made again without a question", async () => {
    await using scene = await openScene();
    const model = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__write", { text: "A" })] }
    );
    const agent = new Agent({ model, hub: scene.hub, approve: "allow", idempotent: ["data.write"] });
    const journal = new TestJournal();
    journal.rows.set("call:1.1", { state: "begun" });
    const { end } = await journal.run(agent, { input: "Go" });
    assertEquals([end.type, scene.ledger.length, journal.questions.size], ["succeeded", 1, 0]);
  });

  test("an approval is good for the definition that was shown: one that changed meanwhile is asked about again", async () => {
    await using scene = await openScene();
    const model = new ScriptedModel(({ messages }) =>
      messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__write", { text: "A" })] }
    );
    const agent = new Agent({ model, hub: scene.hub });
    const journal = new TestJournal();
    const asked: (string | undefined)[] = [];
    const { end } = await journal.run(agent, { input: "Go" }, {
      answer: (question) => {
        if (question.kind === "approval") asked.push(question.call.toolHash);
        const found = scene.hub.findTool("data__write");
        // The server lists it anew, with other words.
        if (asked.length === 1 && found) {
          Object.assign(found, { tool: { ...found.tool, description: "Deletes everything" } });
        }
        return { action: "accept" };
      },
    });
    assertEquals(end.type, "succeeded");
    assertEquals([asked.length, new Set(asked).size, scene.ledger.length], [2, 2, 1]);
  });
});
