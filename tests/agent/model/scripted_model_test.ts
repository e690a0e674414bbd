import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { LanguageModelError } from "../../../src/agent/mod.ts";
import type { LanguageModelPart, LanguageModelRequest } from "../../../src/agent/mod.ts";
import { scriptedModel } from "../../support/scripted_model.ts";

const hello: LanguageModelRequest = { messages: [{ role: "user", content: "hello" }] };

async function parts(stream: AsyncIterable<LanguageModelPart>): Promise<LanguageModelPart[]> {
  const all: LanguageModelPart[] = [];
  for await (const part of stream) all.push(part);
  return all;
}

describe("a scripted model", () => {
  test("gives its turns in order, and fails behind the last one", async () => {
    const model = scriptedModel([
      "Hi",
      {
        reasoning: "hm",
        text: ["a", "b"],
        calls: [{ name: "f" }, { id: "x", name: "g", arguments: "{bad" }],
        usage: null,
      },
      ({ messages }, turn) => `${messages.length} ${turn}`,
    ]);
    assertEquals(await parts(model.stream(hello)), [
      { type: "text", text: "Hi" },
      { type: "end", reason: "stop", usage: { inputTokens: 10, outputTokens: 5 } },
    ]);
    assertEquals(await parts(model.stream(hello)), [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      { type: "tool_call", call: { id: "call_2_1", name: "f", arguments: {} } },
      { type: "tool_call", call: { id: "x", name: "g", arguments: "{bad" } },
      { type: "end", reason: "tool_calls" },
    ]);
    assertEquals((await parts(model.stream(hello)))[0], { type: "text", text: "1 3" });
    await assertRejects(() => parts(model.stream(hello)), Error, "asked 4 times, it has 3 turns");
    assertEquals(model.requests, [hello, hello, hello, hello]);
    assertEquals(model.left, 0);
  });

  test("fails, breaks off and hangs as it is told", async () => {
    const model = scriptedModel([{ text: "x", error: "no" }, { breaksOff: true }, { text: "x", hangs: true }]);
    await assertRejects(() => parts(model.stream(hello)), LanguageModelError, "no");
    assertEquals(await parts(model.stream(hello)), []);
    const controller = new AbortController();
    const reason = new Error("enough");
    const thrown = await assertRejects(async () => {
      for await (const _ of model.stream(hello, controller)) controller.abort(reason);
    });
    assertStrictEquals(thrown, reason);
    assertEquals(model.left, 2);
  });

  test("remembers what it was asked as it was then", async () => {
    const messages = [...hello.messages];
    const model = scriptedModel(["a"]);
    await parts(model.stream({ messages }));
    messages.push({ role: "user", content: "more" });
    assertEquals(model.requests[0]?.messages.length, 1);
  });
});
