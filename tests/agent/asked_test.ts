import { describe, test } from "node:test";
import { assertEquals, assertMatch } from "@std/assert";
import { createBridgeHandler, createModelHandler, toMcpServer, withApiAgent } from "../../src/agent/mod.ts";
import type { JsonObject } from "../../src/protocol/mod.ts";
import type { RequestContext } from "../../src/server/definitions.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { BothAgent, chat, errorOf, events, post } from "./support.ts";

const completions = "/v1/chat/completions";

describe("a model that is asked", () => {
  test("for what makes no sense names the field", async () => {
    const handler = createModelHandler(new BothAgent());
    const said = (message: JsonObject): JsonObject =>
      chat({ messages: [{ role: "assistant", content: "x", ...message }] });
    const cases: readonly (readonly [body: JsonObject, param: string])[] = [
      [chat({ messages: [1] }), "messages[0]"],
      [said({ name: 1 }), "messages[0].name"],
      [said({ tool_call_id: 1 }), "messages[0].tool_call_id"],
      [said({ tool_calls: [] }), "messages[0].tool_calls"],
      [said({ tool_calls: ["look"] }), "messages[0].tool_calls"],
      [said({ content: null }), "messages[0].content"],
      [said({ role: "user", content: null, refusal: "no" }), "messages[0].content"],
      [chat({ stream: true, stream_options: 1 }), "stream_options"],
      [chat({ stream: true, stream_options: { include_usage: 1 } }), "stream_options.include_usage"],
      [chat({ top_p: 2 }), "top_p"],
    ];
    for (const [body, param] of cases) {
      const { status, ...error } = await errorOf(await handler(post(completions, body)));
      assertEquals([status, error.param, error.code], [400, param, "invalid_value"], JSON.stringify(body));
    }
    const well = [{ content: null, refusal: "no" }, { content: null, tool_calls: [{ id: "c1" }] }, { name: null }];
    for (const message of well) {
      const response = await handler(post(completions, said(message)));
      assertEquals(response.status, 200, await response.text());
    }
  });

  test("by a body that does not come to its end gives up after a minute", async () => {
    const clock = new VirtualClock();
    const handler = createModelHandler(new BothAgent(), { clock });
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
    });
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body, duplex: "half" } as const;
    const answer = handler(new Request(`http://localhost${completions}`, init));
    await clock.advance(62_000);
    const { status, code } = await errorOf(await answer);
    assertEquals([status, code], [408, "body_too_slow"]);
  });
});

test("each event of a stream is whole in itself: it names its completion, and the model", async () => {
  const request = post(completions, chat({ stream: true, stream_options: { include_usage: true } }));
  const { data } = await events(await createModelHandler(new BothAgent(() => "hi"))(request));
  assertEquals(data.pop(), "[DONE]");
  const chunks = data.map((text) => JSON.parse(text));
  const { id, created } = chunks[0];
  assertMatch(id, /^chatcmpl-[0-9a-f]{24}$/);
  const head = { id, created, model: "causeway-both", object: "chat.completion.chunk" };
  const chunk = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
    usage: null,
  });
  assertEquals(chunks, [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "hi" }),
    chunk({}, "stop"),
    { ...head, choices: [], usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } },
  ]);
});

test("what an agent says of its tools, prompts and resources is listed, all of it", async () => {
  const [schema, meta] = [{ type: "object", properties: { a: { type: "string" } } }, { "a.test/b": 1 }] as const;
  const about = { title: "A title", description: "What it does", icons: [{ src: "https://a.test/i.png" }] };
  const tool = {
    name: "look",
    ...about,
    inputSchema: schema,
    outputSchema: schema,
    annotations: { readOnlyHint: true },
  };
  const prompt = { name: "greet", ...about, arguments: [{ name: "who", description: "Whom", required: true }] };
  const resource = { uri: "note://a", name: "a", ...about, mimeType: "text/plain", size: 3 };
  const { methods } = toMcpServer({
    getMcpToolDefinitions: () => [{ ...tool, _meta: meta }],
    executeMcpTool: () => ({ a: "b" }),
    getMcpPrompts: () => [{ ...prompt, _meta: meta }, { name: "plain" }],
    getMcpPrompt: () => "hello",
    getMcpResources: () => [{ ...resource, _meta: meta }],
    readMcpResource: () => "abc",
  });
  const context = { signal: new AbortController().signal } as RequestContext;
  assertEquals((await methods.run("tools/list", {}, context))?.tools, [{ ...tool, _meta: meta }]);
  assertEquals((await methods.run("prompts/list", {}, context))?.prompts, [{ ...prompt, _meta: meta }, {
    name: "plain",
  }]);
  assertEquals((await methods.run("resources/list", {}, context))?.resources, [{ ...resource, _meta: meta }]);
});

test("a class that becomes a model is made as ever, and what it says of itself counts", () => {
  class Base {
    readonly words: readonly string[];
    constructor(...words: string[]) {
      this.words = words;
    }
    getModelId(): string {
      return this.words.join("-");
    }
    getModelInfo() {
      return { description: this.words.join(" ") };
    }
  }
  class Talker extends withApiAgent(Base) {
    respond(): string {
      return this.words.join();
    }
  }
  const talker = new Talker("one", "two");
  assertEquals([talker.getModelId(), talker.getModelInfo(), talker.respond()], [
    "one-two",
    { description: "one two" },
    "one,two",
  ]);
});

test("the bridge gives the tools of the caller's that a model wants called", async () => {
  const toolCalls = [{ id: "c1", name: "look", arguments: { at: 1 } }];
  const handler = createBridgeHandler(new BothAgent(() => ({ content: "", toolCalls })));
  const answer = await (await handler(post("/chat", { query: "hi" }))).json();
  const call = { id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
  assertEquals([answer.finishReason, answer.toolCalls], ["tool_calls", [call]]);
});
