import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent, AgentRunError } from "../../../src/agent/mod.ts";
import { canonicalJson } from "../../../src/hub/pins/canonical.ts";
import { sha256 } from "../../../src/protocol/web_crypto.ts";
import { FakeHub } from "../../hub/support/fake_hub.ts";
import { gather, kinds, openScene } from "./support/scene.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

const readOnly = ["data"];

describe("perception", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`an agent with a data-fetching task calls fetch_data, and the validated result lands in its state (${era})`, async () => {
      await using scene = await openScene(era);
      const seen: number[] = [];
      const model = new ScriptedModel(({ messages }, count) => {
        // What the model reads was in the agent's state before.
        seen.push(run.observations.length);
        const last = messages.at(-1);
        if (count === 1) return { calls: [call("data__fetch_data", { city: "Paris" }, "one")] };
        const data = last?.role === "tool" ? last.result.structuredContent : undefined;
        return { text: ["Paris: ", JSON.stringify(data)] };
      });
      const agent = new Agent({ model, hub: scene.hub, trustHintsOf: ["data"] });
      const run = agent.run("How many people live in Paris?");
      const { text, usage, steps } = await run.result;
      assertEquals(text, 'Paris: {"city":"Paris","population":5000}');
      assertEquals([usage, steps, seen], [{ inputTokens: 20, outputTokens: 10 }, 2, [0, 1]]);
      assertEquals(scene.ledger, ['fetch_data {"city":"Paris"}']);
      const [observation] = run.observations;
      assert(observation);
      const { at, took, size, provenance, result, ...rest } = observation;
      assertEquals(rest, {
        id: "one",
        step: 1,
        server: "data",
        tool: "fetch_data",
        name: "data__fetch_data",
        argumentsHash: await sha256(canonicalJson({ city: "Paris" })),
        outcome: "ok",
        validation: "validated",
      });
      assert(at > 1.6e12 && took >= 0 && size === JSON.stringify(result).length, `${at} ${took} ${size}`);
      assertEquals(result.structuredContent, { city: "Paris", population: 5000 });
      assertEquals(provenance.serverInfo, { name: "data-server", version: "3.2.1" });
      assertEquals(provenance.toolHash?.length, 64);
      const tool = model.asked[1]?.messages.at(-1);
      assertEquals(tool, { role: "tool", id: "one", name: "data__fetch_data", result });
    });
  }

  test("events come in their order, end with exactly one terminal event, and each reader gets them all", async () => {
    await using scene = await openScene();
    const model = new ScriptedModel([
      { text: "I look", calls: [call("data__fetch_data", { city: "Rome" })] },
      { text: ["It", " is"] },
    ]);
    const run = new Agent({ model, hub: scene.hub, readOnly }).run("Go");
    const [first, second] = await Promise.all([gather(run), gather(run)]);
    assertEquals(kinds(first), [
      "step",
      "text",
      "usage",
      "tool_call",
      "observation",
      "step",
      "text",
      "text",
      "usage",
      "succeeded",
    ]);
    assertEquals(second, first);
    assertEquals(await gather(run), first);
    assertEquals(first.at(-1), await run.end);
  });

  test("a result without a schema, or one that is an error, is unchecked", async () => {
    await using scene = await openScene();
    const model = new ScriptedModel([{ calls: [call("data__say", { text: "a" }), call("data__fail")] }, {
      text: "done",
    }]);
    const run = new Agent({ model, hub: scene.hub, readOnly }).run("Go");
    await run.result;
    assertEquals(run.observations.map(({ tool, outcome, validation }) => [tool, outcome, validation]), [
      ["say", "ok", "unchecked"],
      ["fail", "tool_error", "unchecked"],
    ]);
  });

  test("a result that does not fit its schema does not reach the model, also where the hub did not look", async () => {
    const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const patterned = { type: "object", properties: { n: { type: "string", pattern: "^(a+)+\\1$" } } };
    const hub = new FakeHub({
      one: {
        tools: {
          lies: { outputSchema, run: () => ({ content: [], structuredContent: { n: "secret words" } }) },
          odd: { outputSchema: patterned, run: () => ({ content: [], structuredContent: { n: "aa" } }) },
        },
      },
    });
    const model = new ScriptedModel([{ calls: [call("one__lies"), call("one__odd")] }, { text: "done" }]);
    const run = new Agent({ model, hub, approve: "allow" }).run("Go");
    await run.result;
    const [lies, odd] = run.observations;
    assertEquals([lies?.outcome, lies?.validation, lies?.result.isError], ["tool_error", "unchecked", true]);
    assert(!JSON.stringify(model.asked[1]).includes("secret words"), "the model has read it");
    assertEquals([odd?.outcome, odd?.validation], ["ok", "unchecked"]);
  });

  test("a run that fails rejects its result with how it ended", async () => {
    const run = new Agent({ model: new ScriptedModel([{ error: new Error("no such model") }]) }).run("Go");
    const error = await assertRejects(() => run.result, AgentRunError, "no such model");
    assertEquals(error.end.type, "failed");
    assertEquals((await run.end).type, "failed");
  });
});
