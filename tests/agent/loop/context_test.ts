import { describe, test } from "node:test";
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import { fitContext, TokenCounter, tokensOf } from "../../../src/agent/loop/turns/context.ts";
import type { LanguageModelMessage } from "../../../src/agent/model/seam.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

type ToolMessage = Extract<LanguageModelMessage, { role: "tool" }>;

function turn(id: string, text: string, more: Partial<ToolMessage["result"]> = {}): LanguageModelMessage[] {
  return [
    { role: "assistant", content: "", toolCalls: [{ id, name: `tool_${id}`, arguments: {} }] },
    { role: "tool", id, name: `tool_${id}`, result: { content: [{ type: "text", text }], ...more } },
  ];
}

const long = "word ".repeat(400);
const start: LanguageModelMessage[] = [{ role: "system", content: "Be good" }, { role: "user", content: "Go" }];
const conversation = [...start, ...turn("a", long), ...turn("b", long, { isError: true }), ...turn("c", long)];
const cost = (messages: readonly LanguageModelMessage[]): number =>
  messages.reduce((sum, one) => sum + tokensOf(one), 0);
const textAt = (messages: readonly LanguageModelMessage[], at: number): string => {
  const message = messages[at];
  const [block] = message?.role === "tool" ? message.result.content : [];
  return block?.type === "text" ? block.text : "";
};

describe("a conversation that is too long", () => {
  test("what fits stays as it is", () => {
    assertStrictEquals(fitContext(conversation, cost(conversation), () => true), conversation);
  });

  test("with one counter each message is counted and cut once, and comes out the same", () => {
    let reads = 0;
    const toJSON = function (this: object): object {
      reads++;
      return { ...this };
    };
    // Copies do not have it.
    const watched = conversation.map((message) => Object.defineProperty({ ...message }, "toJSON", { value: toJSON }));
    const counter = new TokenCounter();
    const limit = cost(conversation) - 500;
    const [first, again] = [1, 2].map(() => fitContext(watched, limit, () => false, counter));
    assertEquals(JSON.stringify(first), JSON.stringify(fitContext(conversation, limit, () => false)));
    assertStrictEquals(again?.[3], first?.[3]);
    reads = 0;
    fitContext(watched, limit, () => false, counter);
    assertEquals(reads, 0);
  });

  test("the oldest results give way first, each to a line that says how it is read again", () => {
    const one = fitContext(conversation, cost(conversation) - 1, (id) => id === "a");
    const json = JSON.stringify({ content: [{ type: "text", text: long }] });
    assertEquals(
      textAt(one, 3),
      `(the result of tool_a, ${json.length} characters, was cut to make room: ` +
        "call tool_a again with the same arguments to see it again)",
    );
    assertEquals([textAt(one, 5), textAt(one, 7)], [long, long]);
    const two = fitContext(conversation, cost(conversation) - 500, () => false);
    assert(textAt(two, 3).includes("is not to be called again for it"), textAt(two, 3));
    const second = two[5];
    assertEquals(second?.role === "tool" && second.result.isError, true);
    assertEquals(textAt(two, 7), long);
    assertEquals(two.slice(0, 2), start);
  });

  test("a result that is kept as a resource names it", () => {
    const kept = [...start, ...turn("a", `${long} The rest: causeway://results/abc-123/0`), ...turn("b", "short")];
    assert(textAt(fitContext(kept, 300, () => true), 3).includes("read causeway://results/abc-123 to"));
  });

  test("the last results are cut only where nothing else is left, and say so", () => {
    const wide: LanguageModelMessage[] = [
      ...start,
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "a", name: "t", arguments: {} }, { id: "b", name: "t", arguments: {} }],
      },
      ...["a", "b"].map((id): ToolMessage => ({
        role: "tool",
        id,
        name: "t",
        result: { content: [{ type: "text", text: long }, { type: "image", data: "aGk=", mimeType: "image/png" }] },
      })),
    ];
    const fitted = fitContext(wide, 700, () => true);
    assert(cost(fitted) <= 700, String(cost(fitted)));
    assertEquals(fitted.length, wide.length);
    assert(JSON.stringify(fitted[3]).includes("cut to fit: "), JSON.stringify(fitted[3]));
  });

  test("the last results fit also where JSON writes two characters for one", () => {
    for (const text of ["a\n".repeat(3_000), '"'.repeat(6_000), "\u0001".repeat(3_000), "漢\n".repeat(2_000)]) {
      const fitted = fitContext([...start, ...turn("a", text)], 1_000, () => true);
      assert(cost(fitted) <= 1_000, `${cost(fitted)} for ${JSON.stringify(text.slice(0, 2))}`);
      assert(textAt(fitted, 3).length > 100);
    }
  });

  test("with a tool for it, each line says how a result is had back", () => {
    const counter = new TokenCounter(() => "recall");
    const kept = [
      ...start,
      ...turn("k", `${long} causeway://results/abc-123/0`),
      ...turn("a", long),
      ...turn("c", long),
    ];
    const fitted = fitContext(kept, 700, () => true, counter);
    assert(
      textAt(fitted, 3).endsWith('call recall with {"id":"k"}, or read causeway://results/abc-123 to see it again)'),
      textAt(fitted, 3),
    );
    assert(textAt(fitted, 5).endsWith('call recall with {"id":"a"} to see it again)'), textAt(fitted, 5));
    const [, note] =
      /call recall with (\{.*\}) for the rest/.exec(JSON.stringify(fitContext(kept, 400, () => true, counter)[7])) ??
        [];
    assert(note, JSON.stringify(fitContext(kept, 400, () => true, counter)[7]));
  });

  test("pictures count as much each, whatever their bytes", () => {
    const data = "A".repeat(4_000_000);
    assert(tokensOf({ type: "image", data, mimeType: "image/png" }) < 1_100);
    assert(tokensOf("漢".repeat(100)) >= 100);
  });

  test("what only looks like a picture is text to the model, and counts as that", () => {
    const data = "x".repeat(400_000);
    const image = { type: "image", data, mimeType: "image/png" };
    const structured: JsonObject[] = [{ data }, { blob: data }, { rows: [{ data }] }, image, { content: [image] }];
    for (const structuredContent of structured) {
      const wide = [...start, ...turn("a", "", { content: [], structuredContent })];
      assert(cost(wide) > 100_000, `${cost(wide)} for ${Object.keys(structuredContent)}`);
      assert(cost(fitContext(wide, 1_000, () => true)) <= 1_000);
      const given = { id: "a", name: "t", arguments: structuredContent };
      assert(tokensOf({ role: "assistant", content: "", toolCalls: [given] }) > 100_000);
      assert(tokensOf({ name: "t", inputSchema: { default: structuredContent } }) > 100_000);
    }
    const blob = { type: "resource", resource: { uri: "a:b", blob: data } };
    for (const message of [{ role: "user", content: [image, blob] }, { result: { content: [image, blob] } }]) {
      assert(tokensOf(message) < 2_200, `${tokensOf(message)}`);
    }
  });

  test("calls and answers stay in pairs at every limit", () => {
    for (let limit = 1; limit < cost(conversation); limit += 37) {
      const fitted = fitContext(conversation, limit, () => true);
      assertEquals(fitted.map(({ role }) => role), conversation.map(({ role }) => role));
      assertEquals(fitted.slice(0, 2), start);
    }
  });

  test("an agent's model is never given more than it can read, and its observations stay whole", async () => {
    const read = { name: "read", description: "Reads", readOnly: true, run: ({ at }: JsonObject) => `${at} ${long}` };
    const model = new ScriptedModel(
      (_, count) => count < 8 ? { calls: [call("read", { at: count }, `c${count}`)] } : { text: "done" },
      2_000,
    );
    const run = new Agent({ model, tools: [read] }).run("Go");
    await run.result;
    for (const { messages, tools } of model.asked) assert(cost(messages) + tokensOf(tools) <= 2_000);
    assertEquals(run.observations.length, 7);
    for (const [index, { result }] of run.observations.entries()) {
      const [block] = result.content;
      assertEquals(block?.type === "text" && block.text, `${index + 1} ${long}`);
    }
    const last = model.asked.at(-1)?.messages ?? [];
    assert(textAt(last, 2).includes("was cut to make room"), textAt(last, 2));
    assertEquals(textAt(last, last.length - 1), `7 ${long}`);
  });
});
