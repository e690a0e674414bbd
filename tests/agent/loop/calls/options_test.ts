/** Options of agents and of their runs. */
import { test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../../../../src/agent/mod.ts";
import type { AgentOptions } from "../../../../src/agent/mod.ts";
import { ScriptedModel } from "../support/scripted.ts";

test("options that make no sense are refused, each by its name", () => {
  const model = new ScriptedModel([]);
  const wrong: [object, string][] = [
    [{}, '"model" has no "stream"'],
    [{ model, steps: 0 }, '"steps" is 0'],
    [{ model, maxSteps: 5 }, '"steps" is missing, expected it, not "maxSteps"'],
    [{ model, maxSteps: NaN }, '"steps" is missing, expected it, not "maxSteps"'],
    [{ model, temperature: 3 }, '"temperature" is 3'],
    [{ model, temperature: "1" as never }, '"temperature" is 1'],
    [{ model, sampling: { policy: "allow", most: "3" as never } }, '"sampling.most" is "3"'],
    [{ model, sampling: { policy: "allow", maxTokens: 0 } }, '"sampling.maxTokens" is 0'],
    [{ model, tokens: NaN }, '"tokens" is NaN'],
    [{ model, maxParallel: -1 }, '"maxParallel" is -1'],
    [{ model, approve: "yes" }, '"approve" is "yes"'],
    [{ model, onUnknown: "retry" }, '"onUnknown" is "retry"'],
    [{ model, sampling: "sure" }, '"sampling" is "sure"'],
    [{ model, hub: {} }, '"hub" has no "callTool"'],
    [{ model, roots: [{ uri: "https://a" }] }, 'the root "https://a"'],
    [{ model, readOnly: [""] }, "pattern 0"],
    [{ model, tools: [{ name: "a b", description: "", run() {} }] }, 'the tool "a b"'],
    [{ model, tools: [{ name: "a", description: "" }] }, 'it has no "run"'],
    [{ model, tools: { a: { description: "", run() {} } } }, '"tools" is no list'],
    [{ model, roots: "file:///home" }, '"roots" is no list'],
    [{ model, instructions: () => "Be brief" }, '"instructions" is no text'],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => new Agent(options as AgentOptions), Error, message);
  }
  assertThrows(() => new Agent({ model }).run([]), TypeError, "one message or more");
  const wrongRuns: [object, string][] = [
    [{ deadline: NaN }, '"deadline" is NaN, expected milliseconds since 1970'],
    [{ deadline: "2030-01-01" }, '"deadline" is 2030-01-01'],
    [{ questions: "ask" }, '"questions" is "ask", expected a function or "wait"'],
    [{ questions: null }, '"questions" is null'],
  ];
  for (const [options, message] of wrongRuns) {
    assertThrows(() => new Agent({ model }).run("Go", options), TypeError, message);
  }
  assertEquals(model.asked.length, 0);
});

test("what is null is as good as nothing, and a deadline may be a date", async () => {
  const model = new ScriptedModel([{ text: "One" }, { text: "Two" }]);
  const agent = new Agent({ model, instructions: null, maxSteps: undefined } as unknown as AgentOptions);
  for (const deadline of [null, new Date(Date.now() + 600_000)] as never[]) {
    assertEquals((await agent.run("Go", { deadline }).end).type, "succeeded");
  }
  assertEquals((await agent.run("Go", { deadline: new Date(0) as never }).end).type, "failed");
  assertEquals(model.asked.length, 2);
});
