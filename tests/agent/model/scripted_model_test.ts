import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { LanguageModelError, scriptedModel } from "../../../src/agent/mod.ts";
import type { LanguageModelPart, LanguageModelRequest } from "../../../src/agent/mod.ts";

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
    for (const times of [4, 5]) {
      await assertRejects(() => parts(model.stream(hello)), Error, `asked ${times} times, it has 3 turns`);
    }
    assertEquals(model.requests, [hello, hello, hello, hello, hello]);
    assertEquals(model.left, 0);
  });

  test("takes a list of turns: each letter of a text would be one", () => {
    for (const wrong of ["It is noon", undefined, { text: "noon" }]) {
      assertThrows(() => scriptedModel(wrong as never), TypeError, "expected a list of turns");
    }
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

  test("is called off while a turn is still being made, or waits for its gate", async () => {
    const never = new Promise<never>(() => {});
    const model = scriptedModel([() => never, { after: never }]);
    for (const left of [1, 2]) {
      const controller = new AbortController();
      const asked = parts(model.stream(hello, controller));
      controller.abort(new Error("enough"));
      await assertRejects(() => asked, Error, "enough");
      assertEquals(model.left, left);
    }
  });

  test("remembers what it was asked as it was then", async () => {
    const messages = [...hello.messages];
    const model = scriptedModel(["a"]);
    await parts(model.stream({ messages }));
    messages.push({ role: "user", content: "more" });
    assertEquals(model.requests[0]?.messages.length, 1);
  });
});
