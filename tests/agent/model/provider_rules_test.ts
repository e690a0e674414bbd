/** What endpoints refuse, and with it the whole question. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent, aiSdkModel, openAiModel, workersAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModelMessage } from "../../../src/agent/mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { collect, delta, ended, endpoint, events, finish, hello, said, sdk, streamed } from "./support.ts";

describe("system messages that follow each other", () => {
  const messages: LanguageModelMessage[] = [
    { role: "system", content: "Be kind." },
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
    { role: "system", content: "Be quick." },
  ];
  const expected = [
    ["system", "Be kind.\n\nBe brief."],
    ["user", "Hi"],
    ["system", "Be quick."],
  ];

  test("are one, since templates of local models refuse a second one", async () => {
    const { fetch, sent } = endpoint(ended());
    await collect(openAiModel({ baseUrl: "http://127.0.0.1:1/v1", model: "m", fetch }).stream({ messages }));
    const written: JsonObject[] = sent[0]?.body.messages;
    assertEquals(written.map(({ role, content }) => [role, content]), expected);
  });

  test("are one for Workers AI", async () => {
    const asked: JsonObject[] = [];
    const run = (_: string, inputs: object) => {
      asked.push(inputs as JsonObject);
      return Promise.resolve({ response: "ok" });
    };
    await collect(workersAiModel({ run }, "@cf/m").stream({ messages }));
    const written = asked[0]?.messages as JsonObject[];
    assertEquals(written.map(({ role, content }) => [role, content]), expected);
  });

  test("are one for providers of the AI SDK", async () => {
    const { model, asked } = sdk(said("ok"));
    await collect(aiSdkModel(model).stream({ messages: messages.toSpliced(2, 1) }));
    assertEquals(asked[0]?.prompt, [{ role: "system", content: "Be kind.\n\nBe brief.\n\nBe quick." }]);
  });
});

describe("a schema for the answer is strict only where OpenAI takes it so", () => {
  const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
    ...more,
  });
  const $defs = { Name: { type: "string" } };
  const cases: [string, JsonObject, boolean][] = [
    ["a plain one", closed({ a: { type: "string", description: "a" } }), true],
    ["a reference", closed({ a: { $ref: "#/$defs/Name" } }, { $defs }), true],
    ["a reference with words beside it", closed({ a: { $ref: "#/$defs/Name", description: "a" } }, { $defs }), false],
    ["anything", closed({ a: {} }), false],
    ["anything with words", closed({ a: { description: "a" } }), false],
    ["a list of anything", closed({ a: { type: "array", items: {} } }), false],
    ["a list without its kind", closed({ a: { type: "array" } }), false],
    ["an object or null that is open", closed({ a: { type: ["object", "null"] } }), false],
    ["an object or null", closed({ a: closed({}, { type: ["object", "null"] }) }), true],
    ["a choice", closed({ a: { anyOf: [{ type: "string" }, { type: "null" }] } }), true],
    ["a choice of something open", closed({ a: { anyOf: [{ type: "object" }, { type: "null" }] } }), false],
    [
      "a definition that is open",
      closed({ a: { $ref: "#/$defs/Name" } }, { $defs: { Name: { type: "object" } } }),
      false,
    ],
    ["what is not all required", closed({ a: { type: "string" }, b: { type: "string" } }, { required: ["a"] }), false],
    ["a choice at the root", closed({}, { anyOf: [closed({ a: { type: "string" } })] }), false],
  ];
  for (const [what, schema, strict] of cases) {
    test(`${what}: ${strict}`, async () => {
      const { fetch, sent } = endpoint(ended());
      const model = openAiModel({ baseUrl: "https://api.test", model: "m", fetch });
      await collect(model.stream({ ...hello, output: { name: "n", schema } }));
      assertEquals(sent[0]?.body.response_format.json_schema.strict, strict);
    });
  }
});

test("half a character is nowhere in a question: endpoints refuse it as no JSON", async () => {
  const half = "cut \ud83d";
  const messages: LanguageModelMessage[] = [
    { role: "system", content: half },
    { role: "user", content: half },
    { role: "assistant", content: half, toolCalls: [{ id: "a", name: "f", arguments: { [half]: half } }] },
    { role: "tool", id: "a", name: "f", result: { content: [{ type: "text", text: half }] } },
  ];
  const inputSchema = { type: "object", properties: { a: { type: "string", description: half } } };
  const tools = [{ name: "f", description: half, inputSchema }];
  const { fetch, sent } = endpoint(ended());
  await collect(openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch }).stream({ messages, tools }));
  assertEquals(/\\ud83d/.test(JSON.stringify(sent[0]?.body)), false);
  const { model, asked } = sdk(said("ok"));
  await collect(aiSdkModel(model).stream({ messages, tools }));
  assertEquals(/\\ud83d/.test(JSON.stringify(asked[0])), false);
});

describe("a schema for the answer beside tools", () => {
  const output = { name: "n", schema: { type: "object", properties: {} } };
  const tools = [{ name: "f", description: "f", inputSchema: { type: "object", properties: {} } }];

  test("is left out where both together are refused: chat completions of Gemini and Groq", async () => {
    const hosts = {
      "api.groq.com/openai": false,
      "generativelanguage.googleapis.com/v1beta/openai": false,
      "api.test": true,
    };
    for (const [host, isBound] of Object.entries(hosts)) {
      const { fetch, sent } = endpoint(ended(), ended(), ended());
      const model = openAiModel({ baseUrl: `https://${host}`, model: "m", fetch });
      await collect(model.stream({ ...hello, output, tools }));
      await collect(model.stream({ ...hello, output }));
      const bound = sent.map(({ body }) => body.response_format !== undefined);
      assertEquals(bound, [isBound, true], host);
    }
  });

  test("AI SDK: by the provider, or where it is not wanted at all", async () => {
    const cases = [["google.generative-ai", {}, false], ["groq.chat", {}, false], ["openai.responses", {}, true], [
      "local.chat",
      { outputFormat: "none" },
      false,
    ]] as const;
    for (const [provider, options, isBound] of cases) {
      const { model, asked } = sdk(said("ok"), said("ok"));
      const made = aiSdkModel({ ...model, provider }, options);
      await collect(made.stream({ ...hello, output, tools }));
      await collect(made.stream({ ...hello, output }));
      const bound = asked.map(({ responseFormat }) => responseFormat !== undefined);
      assertEquals(bound, [isBound, !("outputFormat" in options)], provider);
    }
  });
});

describe("an answer with nothing in it stands in the conversation as a word", () => {
  const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

  test("chat completions", async () => {
    const { fetch, sent } = endpoint(
      streamed(events(delta({}, "stop"))),
      streamed(events(delta({ content: '{"n":1}' }, "stop"))),
    );
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
    const { output: got } = await new Agent({ model, output }).run("Go").result;
    assertEquals(got, { n: 1 });
    const contents = sent[1]?.body.messages.slice(1).map(({ content }: JsonObject) => content !== "");
    assertEquals(contents, [true, true, true]);
  });

  test("AI SDK", async () => {
    const { model, asked } = sdk([finish], said('{"n":1}'));
    const { output: got } = await new Agent({ model: aiSdkModel(model), output }).run("Go").result;
    assertEquals(got, { n: 1 });
    assertEquals(
      asked[1]?.prompt.filter(({ role, content }) => role === "assistant" && content?.toString() === ""),
      [],
    );
  });

  test("blanks beside calls are none, also in what a provider wants to see again", async () => {
    const call = { type: "tool-call", toolCallId: "a", toolName: "f", input: "{}" };
    const thought = { type: "reasoning-end", id: "0", providerMetadata: { test: { signature: "s" } } };
    const blank = { type: "text-delta", id: "1", delta: "\n\n" };
    const thinks = [{ type: "reasoning-start", id: "0" }, { type: "reasoning-delta", id: "0", delta: "hm" }, thought];
    for (const before of [[], thinks]) {
      const { model, asked } = sdk([...before, blank, call, finish], said("ok"));
      await new Agent({ model: aiSdkModel(model) }).run("Go").result;
      const content = asked[1]?.prompt[1]?.content as JsonObject[];
      assertEquals(content.map(({ type }) => type), [...before.length > 0 ? ["reasoning"] : [], "tool-call"]);
    }
    const messages: LanguageModelMessage[] = [
      { role: "assistant", content: " \n", toolCalls: [{ id: "a", name: "f", arguments: {} }] },
    ];
    const { fetch, sent } = endpoint(ended());
    await collect(openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch }).stream({ messages }));
    assertEquals(sent[0]?.body.messages[0].content, null);
  });

  test("thoughts alone end in a word (Anthropic refuses a message that ends with them); blanks that were kept are left out", async () => {
    const signed = { test: { signature: "s" } };
    const thought = { type: "reasoning-end", id: "0", providerMetadata: signed };
    const thinks = [{ type: "reasoning-start", id: "0" }, { type: "reasoning-delta", id: "0", delta: "hm" }, thought];
    const { model, asked } = sdk([...thinks, ...said("\n\n")], said('{"n":1}'));
    const output = { type: "object", properties: { n: { type: "number" } } };
    await new Agent({ model: aiSdkModel(model), output }).run("Go").result;
    const answer = asked[1]?.prompt.find(({ role }) => role === "assistant");
    const reasoning = { type: "reasoning", text: "hm", providerOptions: signed };
    assertEquals<unknown>(answer?.content, [reasoning, { type: "text", text: "(no answer)" }]);
    const call = { type: "tool-call", toolCallId: "a", toolName: "f", input: {} };
    const kept = [reasoning, { type: "text", text: "\n\n" }, call];
    const messages: LanguageModelMessage[] = [{
      role: "assistant",
      content: "\n\n",
      toolCalls: [{ id: "a", name: "f", arguments: {} }],
      provider: { from: "test m", content: kept },
    }];
    const later = sdk(said("ok"));
    await collect(aiSdkModel(later.model).stream({ messages }));
    assertEquals<unknown>(later.asked[0]?.prompt[0]?.content, [reasoning, call]);
  });
});

describe("media that a model does not take", () => {
  test("are told in a line each: DeepSeek and others refuse a conversation with a picture in it", async () => {
    const content = [{ type: "image" as const, mimeType: "image/png", data: "aGk=" }];
    const messages: LanguageModelMessage[] = [
      { role: "user", content },
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: {} }] },
      { role: "tool", id: "a", name: "f", result: { content } },
    ];
    const line = "[image, image/png, 2 bytes: not shown, since this model takes no such type]";
    const { fetch, sent } = endpoint(ended());
    await collect(openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, media: [] }).stream({ messages }));
    const [user, , result, ...more]: JsonObject[] = sent[0]?.body.messages;
    assertEquals([user?.content, result?.content, more], [[{ type: "text", text: line }], line, []]);
    const asked: JsonObject[] = [];
    const run = (_: string, inputs: object) => {
      asked.push(inputs as JsonObject);
      return Promise.resolve({ response: "ok" });
    };
    await collect(workersAiModel({ run }, "@cf/m", { media: [] }).stream({ messages }));
    assertEquals((asked[0]?.messages as JsonObject[])[2]?.content, line);
  });
});

describe("pictures in results, for providers of the AI SDK", () => {
  const picture = { type: "image" as const, mimeType: "image/png", data: "aGk=" };
  const text = (text: string) => ({ type: "text" as const, text });
  const messages: LanguageModelMessage[] = [
    { role: "assistant", content: "", toolCalls: ["a", "b"].map((id) => ({ id, name: "f", arguments: {} })) },
    { role: "tool", id: "a", name: "f", result: { content: [picture] } },
    { role: "tool", id: "b", name: "f", result: { content: [text("one"), picture, text("two")] } },
    ...hello.messages,
  ];
  const beside = "(what the tool gave stands beside this)";

  test("stand behind one text: Google's makes an answer of each, and Gemini 2 wants one for each call", async () => {
    const { model, asked } = sdk(said("ok"));
    await collect(aiSdkModel(model).stream({ messages }));
    const outputs = (asked[0]?.prompt[1]?.content as { output: { value: JsonObject[] } }[]).map(({ output }) =>
      output.value
    );
    const image = { type: "image-data", data: "aGk=", mediaType: "image/png" };
    assertEquals(outputs, [[text(beside), image], [text("one\ntwo"), image]]);
  });

  test("other files only where the provider takes them in a message of the user: most throw at a PDF", async () => {
    const pdf = { uri: "file:///a.pdf", mimeType: "application/pdf", blob: "aGk=" };
    const result = { content: [{ type: "resource" as const, resource: pdf }] };
    const given = messages.with(1, { role: "tool", id: "a", name: "f", result });
    const cases = [
      ["groq.chat", undefined, ["image/png"]],
      ["openai.chat", undefined, ["application/pdf", "image/png"]],
      ["local.chat", ["application/pdf"], ["application/pdf"]],
    ] as const;
    for (const [provider, media, expected] of cases) {
      const { model, asked } = sdk(said("ok"));
      await collect(aiSdkModel({ ...model, provider }, { media }).stream({ messages: given }));
      const files = asked[0]?.prompt[2]?.content as { type: string; mediaType: string }[];
      assertEquals<unknown>(files.flatMap(({ mediaType }) => mediaType ?? []), expected, provider);
    }
  });

  test("follow in a message of the user for chat completions, whose providers write base64 as text there", async () => {
    const { model, asked } = sdk(said("ok"));
    await collect(aiSdkModel({ ...model, provider: "local.chat" }).stream({ messages }));
    const [, results, behind, last] = asked[0]?.prompt ?? [];
    const outputs = (results?.content as { output: JsonObject }[]).map(({ output }) => output);
    assertEquals(outputs, [{ type: "text", value: beside }, { type: "text", value: "one\ntwo" }]);
    const file = { type: "file", data: "aGk=", mediaType: "image/png", filename: "file.png" };
    const content = ["a", "b"].flatMap((id) => [text(`From the tool "f" (call ${id}):`), file]);
    assertEquals(behind, { role: "user", content } as unknown as JsonObject);
    assertEquals(last?.role, "user");
    // The results are the last thing that was said, as a rule.
    const turn = sdk(said("ok"));
    await collect(aiSdkModel({ ...turn.model, provider: "local.chat" }).stream({ messages: messages.slice(0, 3) }));
    assertEquals(turn.asked[0]?.prompt.slice(2), [{ role: "user", content } as unknown as JsonObject]);
  });
});
