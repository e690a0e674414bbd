import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { OutcomeUnknownError } from "../../../../mod.ts";
import { Agent } from "../../../../src/agent/mod.ts";
import { OwnTools } from "../../../../src/agent/loop/calls/own_tools.ts";
import type { AgentOptions } from "../../../../src/agent/mod.ts";
import { CallPolicy } from "../../../../src/agent/loop/calls/policy.ts";
import { FakeHub } from "../../../hub/support/fake_hub.ts";
import { call, ScriptedModel } from "../support/scripted.ts";

const reads = { annotations: { readOnlyHint: true } };
const again = { annotations: { idempotentHint: true } };
const servers = { one: { tools: { reads, again, writes: {} } }, two: { tools: { reads, again } } };
const own = [
  { name: "looks", description: "", readOnly: true, run: () => "" },
  { name: "sets", description: "", idempotent: true, run: () => "" },
  { name: "adds", description: "", run: () => "" },
];

/** What may be called without a question, and what may be called twice. */
function judge(options: Partial<AgentOptions>): { readOnly: string[]; repeatable: string[] } {
  const hub = new OwnTools(new FakeHub(servers), own);
  const policy = new CallPolicy({ model: new ScriptedModel([]), ...options }, hub);
  const names = (fits: (tool: ReturnType<OwnTools["tools"]>[number]) => boolean) =>
    hub.tools().filter(fits).map(({ qualifiedName }) => qualifiedName);
  return {
    readOnly: names((tool) => policy.isReadOnly(tool)),
    repeatable: names((tool) => policy.isRepeatable(tool)),
  };
}

describe("what may be called twice", () => {
  test("is what only reads, what the operator says, and what those say who are trusted", () => {
    assertEquals(judge({}), { readOnly: ["looks"], repeatable: ["looks", "sets"] });
    assertEquals(judge({ trustHintsOf: ["one"] }), {
      readOnly: ["one__reads", "looks"],
      repeatable: ["one__reads", "one__again", "looks", "sets"],
    });
    assertEquals(judge({ readOnly: ["two.again"] }), {
      readOnly: ["two__again", "looks"],
      repeatable: ["two__again", "looks", "sets"],
    });
    for (const idempotent of [["one.writes"], ["one__writes"]]) {
      assertEquals(judge({ idempotent }).repeatable, ["one__writes", "looks", "sets"]);
    }
    assertEquals(judge({ idempotent: ["two"] }), {
      readOnly: ["looks"],
      repeatable: ["two__reads", "two__again", "looks", "sets"],
    });
  });

  test("is told to the hub: nothing else is sent again by it", async () => {
    const broken = { run: () => Promise.reject(new OutcomeUnknownError("it broke off")) };
    const hub = new FakeHub({ one: { tools: { reads: { ...reads, ...broken }, again, writes: {} } } });
    const names = ["one__reads", "one__again", "one__writes"];
    const model = new ScriptedModel([{ calls: names.map((name) => call(name)) }, { text: "done" }]);
    const options = { trustHintsOf: ["one"], approve: "allow" as const, callTimeout: 9_000, maxParallel: 1 };
    const asked: string[] = [];
    const run = new Agent({ model, hub, ...options }).run("Go", {
      questions: ({ kind }) => {
        asked.push(kind);
        return { action: "skip" };
      },
    });
    await run.result;
    assertEquals(hub.calls.map(({ name, options: { idempotent, timeout } }) => [name, idempotent, timeout]), [
      ["reads", true, 9_000],
      ["again", true, 9_000],
      ["writes", undefined, 9_000],
    ]);
    // Nobody has to decide what becomes of a call that can be made again.
    assertEquals([run.observations[0]?.outcome, asked], ["unknown", []]);
  });
});
