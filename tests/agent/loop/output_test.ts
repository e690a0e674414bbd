import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentEnd } from "../../../src/agent/mod.ts";
import { numbers } from "../../server/catalog/support.ts";
import { ScriptedModel } from "./support/scripted.ts";

function codeOf(end: AgentEnd): string {
  return end.type === "failed" ? end.error.code : end.type;
}

function failing(): never {
  throw new Error("dates have no form there");
}

describe("an output with a shape", () => {
  const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test("is checked; the model is asked again with what is wrong", async () => {
    const model = new ScriptedModel([{ text: "seven" }, { text: '{"n":"7"}' }, { text: '```json\n{"n":7}\n```' }]);
    const { output: got, steps } = await new Agent({ model, instructions: "Count" }).run("Go", { output }).result;
    assertEquals([got, steps], [{ n: 7 }, 3]);
    assertEquals(model.asked[0]?.output, { name: "output", schema: output });
    const [advice, instructions] = model.asked[0]?.messages ?? [];
    assert(advice?.role === "system" && advice.content.includes('"integer"'));
    assertEquals(instructions, { role: "system", content: "Count" });
    const words = model.asked.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)));
    assert(words[0]?.includes("not JSON") && words[1]?.includes("/n"), String(words));
  });

  test("may be a schema of a library that tells its JSON Schema, of the agent or of one run", async () => {
    const own = numbers(["n"], { jsonSchema: true });
    const schema = { type: "object", $comment: "draft-2020-12", properties: { n: { type: "number" } } };
    for (const [options, more] of [[{ output: own }, {}], [{}, { output: own }]]) {
      const model = new ScriptedModel([{ text: '{"n":"7"}' }, { text: '{"n":7}' }]);
      const { output: got, steps } = await new Agent({ model, ...options }).run("Go", more).result;
      assertEquals([got, steps], [{ n: 7 }, 2]);
      assertEquals(model.asked[0]?.output, { name: "output", schema });
    }
  });

  test("is refused at once where its library tells none", () => {
    const [model, own] = [new ScriptedModel([]), numbers(["n"])];
    const refused = (what: string, role: string) =>
      `Cannot set up ${what}: the library of its ${role} tells no JSON Schema of it, give one in its place`;
    assertThrows(() => new Agent({ model, output: own }), TypeError, refused("the agent", "output"));
    assertThrows(() => new Agent({ model }).run("Go", { output: own }), TypeError, refused("the run", "output"));
    const dates = { "~standard": { ...numbers(["n"])["~standard"], jsonSchema: { output: failing, input: failing } } };
    assertThrows(
      () => new Agent({ model, output: dates }),
      TypeError,
      "the agent: its output gives no JSON Schema, dates have no form there",
    );
    const tools = [{ name: "add", description: "Adds", input: own, run: () => 1 }];
    assertThrows(() => new Agent({ model, tools }), TypeError, refused('the tool "add"', "input"));
  });

  test("is read in a time that grows as the text does, whatever blank lines a model writes", async () => {
    const blank = "\n".repeat(200_000);
    for (
      const [text, isOutput] of [[`${blank}\`\`\`json${blank}{"n":7}${blank}\`\`\`${blank}`, true], [
        "```json" + blank,
        false,
      ]] as const
    ) {
      const model = new ScriptedModel(() => ({ text }));
      const end = await new Agent({ model, output }).run("Go").end;
      assertEquals(end.type, isOutput ? "succeeded" : "failed");
    }
  });

  test("is output_invalid after two corrections, or where the schema is none", async () => {
    const model = new ScriptedModel(() => ({ text: "no" }));
    assertEquals(codeOf(await new Agent({ model, output }).run("Go").end), "output_invalid");
    assertEquals(model.asked.length, 3);
    const wrong = await new Agent({ model, output: { $ref: "https://elsewhere/schema" } }).run("Go").end;
    assertEquals([codeOf(wrong), model.asked.length], ["output_invalid", 3]);
  });
});
