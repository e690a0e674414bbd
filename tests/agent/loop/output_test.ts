import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import type { AgentEnd } from "../../../src/agent/mod.ts";
import { ScriptedModel } from "./support/scripted.ts";

function codeOf(end: AgentEnd): string {
  return end.type === "failed" ? end.error.code : end.type;
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
