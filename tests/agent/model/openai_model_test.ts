import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { openAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModelMessage, LanguageModelPart } from "../../../src/agent/mod.ts";
import type { LogRecord } from "../../../src/ports.ts";
import { body, collect, countingRandom, delta, endpoint, events, hello, modelAt, streamed, tool } from "./support.ts";

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const tokens = { inputTokens: 7, outputTokens: 3 };
const png = "iVBORw0KGgo=";

function call(index: number | undefined, id: string | undefined, name: string | undefined, given: unknown): object {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    function: { name, arguments: given },
  };
}

async function callsOf(...pieces: object[][]): Promise<unknown[]> {
  const chunks = pieces.map((tool_calls) => delta({ tool_calls }));
  const model = modelAt(streamed(events(...chunks, delta({}, "tool_calls"), "[DONE]")));
  const parts = await collect(model.stream(hello));
  assertEquals(parts.at(-1)?.type, "end");
  return parts.flatMap((part) => part.type === "tool_call" ? [part.call] : []);
}

describe("a streamed answer", () => {
  test("texts, thoughts, why it stopped and what it cost", async () => {
    const model = modelAt(streamed(events(
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "Let me " }),
      delta({ reasoning: "think", reasoning_content: null }),
      delta({ content: "Hel" }),
      delta({ content: "lo" }),
      delta({}, "stop"),
      { choices: [], usage },
      "[DONE]",
    )));
    assertEquals(await collect(model.stream(hello)), [
      { type: "reasoning", text: "Let me think" },
      { type: "text", text: "Hello" },
      { type: "end", reason: "stop", usage: tokens },
    ]);
  });

  test("each reason has a word, and calls make theirs", async () => {
    const cases = [
      ["stop", "stop"],
      ["length", "length"],
      ["content_filter", "content_filter"],
      ["eos", "stop"],
      ["SAFETY", "content_filter"],
      ["something new", "other"],
      ["tool_calls", "stop"],
    ];
    for (const [said, reason] of cases) {
      const parts = await collect(modelAt(streamed(events(delta({ content: "x" }, said)))).stream(hello));
      assertEquals(parts.at(-1), { type: "end", reason } as LanguageModelPart, said);
    }
    const stopped = streamed(events(delta({ tool_calls: [call(0, "a", "f", "{}")] }, "stop")));
    assertEquals((await collect(modelAt(stopped).stream(hello))).at(-1), { type: "end", reason: "tool_calls" });
    const cut = streamed(events(delta({ tool_calls: [call(0, "a", "f", '{"x":')] }, "length")));
    assertEquals((await collect(modelAt(cut).stream(hello))).slice(-2), [
      { type: "tool_call", call: { id: "a", name: "f", arguments: '{"x":' } },
      { type: "end", reason: "length" },
    ]);
  });

  test("a refusal is text, and says that it is one", async () => {
    const parts = await collect(modelAt(streamed(events(delta({ refusal: "No." }), delta({}, "stop")))).stream(hello));
    assertEquals(parts, [{ type: "text", text: "No." }, { type: "end", reason: "content_filter" }]);
  });

  test("content as a list, and what has no end but the last line", async () => {
    const content = [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, { type: "text", text: "yes" }];
    const parts = await collect(modelAt(streamed(events(delta({ content }), "[DONE]"))).stream(hello));
    assertEquals(parts, [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "yes" },
      { type: "end", reason: "stop" },
    ]);
  });

  test("what a gateway puts between the chunks is passed over, and told once", async () => {
    const records: LogRecord[] = [];
    const strange = { type: "ping", secret: "sk-0123456789" };
    const text = events(strange, delta({ content: "x" }), { choices: [] }, strange, delta({}, "stop"));
    const model = modelAt(streamed(text), { apiKey: "sk-0123456789", logger: (record) => void records.push(record) });
    assertEquals(await collect(model.stream(hello)), [{ type: "text", text: "x" }, { type: "end", reason: "stop" }]);
    assertEquals(records.map(({ level, fields }) => [level, fields]), [
      ["warning", { model: "m", text: '{"type":"ping","secret":"[redacted]"}' }],
    ]);
  });

  test("thoughts go back under the name by which they came: Groq and Cerebras refuse the other one", async () => {
    const calls = { tool_calls: [call(0, "a", "f", "{}")] };
    const cases = [
      [{ reasoning: "hm" }, { reasoning: "hm" }],
      [{ reasoning_content: "hm" }, { reasoning_content: "hm" }],
      [{ reasoning: "hm", reasoning_content: "hm" }, { reasoning_content: "hm" }],
    ];
    for (const [said, message] of cases) {
      const { fetch, sent } = endpoint(
        streamed(events(delta({ ...said }), delta(calls, "tool_calls"))),
        streamed(events(delta({ content: "ok" }, "stop"))),
      );
      const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
      const end = (await collect(model.stream(hello))).at(-1);
      assert(end?.type === "end");
      const toolCalls = [{ id: "a", name: "f", arguments: {} }];
      const answered = { role: "assistant", content: "", toolCalls, provider: end.provider } as const;
      await collect(model.stream({ messages: [...hello.messages, answered] }));
      const { role: _, content: __, tool_calls: ___, ...more } = sent[1]?.body.messages[1];
      assertEquals(more, message);
    }
  });

  test("comments, other line ends, a mark at the start and no blank line at the end", async () => {
    const text = "\ufeff: hi\r\n\r\nevent: x\r\ndata: " + JSON.stringify(delta({ content: "é" })) + "\r\n\r\n" +
      "data: " + JSON.stringify(delta({}, "stop"));
    assertEquals(await collect(modelAt(streamed(text)).stream(hello)), [
      { type: "text", text: "é" },
      { type: "end", reason: "stop" },
    ]);
  });
});

describe("tool calls in pieces", () => {
  test("several at once, by their index", async () => {
    assertEquals(
      await callsOf(
        [call(0, "a", "f", "")],
        [call(1, "b", "g", '{"y"')],
        [call(0, undefined, undefined, '{"x":'), call(1, undefined, undefined, ":2}")],
        [call(0, undefined, undefined, "1}")],
      ),
      [{ id: "a", name: "f", arguments: { x: 1 } }, { id: "b", name: "g", arguments: { y: 2 } }],
    );
  });

  test("without an index, all numbered 0, or each numbered twice", async () => {
    const both = [{ id: "a", name: "f", arguments: { x: 1 } }, { id: "b", name: "g", arguments: {} }];
    assertEquals(
      await callsOf([call(undefined, "a", "f", '{"x":')], [call(undefined, undefined, undefined, "1}")], [
        call(undefined, "b", "g", ""),
      ]),
      both,
    );
    assertEquals(await callsOf([call(0, "a", "f", '{"x":1}')], [call(0, "b", "g", "{}")]), both);
    assertEquals(await callsOf([call(0, "a", "f", '{"x":')], [call(1, "a", "", "1}")], [call(2, "b", "g", "")]), both);
    assertEquals(
      await callsOf([call(0, "a", "f", '{"x":')], [call(0, "other", "", "1}")], [call(1, "b", "g", "")]),
      both,
    );
  });

  test("without ids and all numbered 0, a name behind a whole call begins the next one", async () => {
    const given = await callsOf(
      [call(0, "", "f", '{"x":1}')],
      [call(0, "", "f", '{"x":2}')],
      [call(0, "", "g", '{"y"')],
      [call(0, "", "g", ":3}")],
    ) as { name: string; arguments: unknown }[];
    assertEquals(given.map(({ name, arguments: one }) => [name, one]), [["f", { x: 1 }], ["f", { x: 2 }], ["g", {
      y: 3,
    }]]);
  });

  test("without ids they get one each, and the same id twice does not stay", async () => {
    const [one, two] = await callsOf([call(0, undefined, "f", "{}"), call(1, undefined, "f", "{}")]) as {
      id: string;
    }[];
    assertEquals([one?.id, two?.id], ["call_" + "01".repeat(12), "call_" + "02".repeat(12)]);
  });

  test("several with one id, each with an index of its own, are not run together", async () => {
    const given = await callsOf(
      [call(0, "x", "f", '{"x":1}'), call(1, "x", "f", '{"x"')],
      [call(2, "x", "g", ""), call(1, "x", undefined, ":2")],
      [call(1, undefined, undefined, "}")],
    ) as { id: string; name: string; arguments: unknown }[];
    assertEquals(given.map(({ name, arguments: one }) => [name, one]), [["f", { x: 1 }], ["f", { x: 2 }], ["g", {}]]);
    assertEquals([given[0]?.id, new Set(given.map(({ id }) => id)).size], ["x", 3]);
  });

  test("one that is cut off before its arguments is not taken for one without any", async () => {
    const cut = (reason: string, ...pieces: unknown[][]) =>
      collect(
        modelAt(streamed(events(...pieces.map((tool_calls) => delta({ tool_calls })), delta({}, reason)))).stream(
          hello,
        ),
      );
    const given = async (...from: Parameters<typeof cut>) =>
      (await cut(...from)).flatMap((part) => part.type === "tool_call" ? [part.call.arguments] : []);
    const pieces = [[call(0, "a", "f", "")], [call(1, "b", "g", "")]];
    assertEquals(await given("tool_calls", ...pieces), [{}, {}]);
    assertEquals(await given("length", ...pieces), [{}, "{"]);
    assertEquals(await given("length", [call(0, "a", "f", '{"x":1}')]), [{ x: 1 }]);
    assertEquals(await given("length", [call(0, "a", "f", '{"x":')]), ['{"x":']);
  });

  test("arguments that are an object, nothing, or no JSON", async () => {
    const given = await callsOf([
      call(0, "a", "f", { x: 1 }),
      call(1, "b", "f", undefined),
      call(2, "c", "f", "{x: 1}"),
      call(3, "d", "f", "[1]"),
    ]) as { arguments: unknown }[];
    assertEquals(given.map((one) => one.arguments), [{ x: 1 }, {}, "{x: 1}", "[1]"]);
  });

  test("pieces that are none, and calls without a name, are passed over", async () => {
    const model = modelAt(
      streamed(events(delta({ tool_calls: [null, 1, { index: 4 }] }), delta({ tool_calls: "x" }, "stop"))),
    );
    assertEquals(await collect(model.stream(hello)), [{ type: "end", reason: "stop" }]);
  });
});

describe("an answer that is not streamed", () => {
  const message = {
    role: "assistant",
    content: "Hi",
    reasoning: "hm",
    tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } }],
  };

  test("is read whole, whatever its type says", async () => {
    for (const type of ["application/json", "text/plain", "text/event-stream"]) {
      const text = ` \n${JSON.stringify({ choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage })}`;
      const reply = new Response(body([text.slice(0, 1), text.slice(1, 9), text.slice(9)]), {
        headers: { "content-type": type },
      });
      assertEquals(await collect(modelAt(reply).stream(hello)), [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Hi" },
        { type: "tool_call", call: { id: "a", name: "f", arguments: { x: 1 } } },
        {
          type: "end",
          reason: "tool_calls",
          usage: tokens,
          provider: { from: "https://api.test m", message: { reasoning: "hm" } },
        },
      ]);
    }
  });

  test("is asked for by an option", async () => {
    const { fetch, sent } = endpoint(Response.json({ choices: [{ message: { content: "Hi" } }] }));
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, stream: false });
    assertEquals(await collect(model.stream(hello)), [{ type: "text", text: "Hi" }, { type: "end", reason: "stop" }]);
    assertEquals(sent[0]?.body, { model: "m", messages: [{ role: "user", content: "hello" }] });
  });
});

describe("what is sent", () => {
  const ended = (): Response => streamed(events(delta({ content: "ok" }, "stop"), "[DONE]"));

  test("the address, the key, headers, and nothing before the first part is asked for", async () => {
    const { fetch, sent } = endpoint(ended());
    const headers = { "X-Title": "mine" };
    const baseUrl = "https://api.test/v1/?api-version=2";
    const stream = openAiModel({ baseUrl, apiKey: "key-1234567", model: "m", fetch, headers }).stream(hello);
    assertEquals(sent.length, 0);
    await collect(stream);
    assertEquals(sent[0]?.url, "https://api.test/v1/chat/completions?api-version=2");
    assertEquals(sent[0]?.headers.get("authorization"), "Bearer key-1234567");
    assertEquals(sent[0]?.headers.get("x-title"), "mine");
    assertEquals([sent[0]?.init.redirect, sent[0]?.init.method], ["manual", "POST"]);
  });

  test("settings, tools, and the schema of the answer", async () => {
    const { fetch, sent } = endpoint(ended(), ended(), ended());
    const open = { type: "object", properties: { a: { type: "string" } } };
    const closed = { ...open, required: ["a"], additionalProperties: false };
    const request = {
      ...hello,
      tools: [{ ...tool("f"), description: "x".repeat(1_100) }],
      toolChoice: "required",
      output: { name: "my answer!", schema: closed },
      maxOutputTokens: 9,
      temperature: 0,
      stopSequences: ["END"],
    } as const;
    const at = (baseUrl: string, more: object) => openAiModel({ baseUrl, model: "m", fetch, ...more }).stream(request);
    await collect(at("http://127.0.0.1:1/v1", { body: { reasoning_effort: "low", temperature: 1 } }));
    const made = sent[0]?.body;
    assertEquals(made.tools[0].function.description.length, 1_024);
    assertEquals([made.tool_choice, made.max_tokens, made.stop], ["required", 9, ["END"]]);
    assertEquals([made.temperature, made.reasoning_effort], [1, "low"]);
    assertEquals([made.stream, made.stream_options], [true, { include_usage: true }]);
    const json_schema = { name: "my_answer_", schema: closed, strict: true };
    assertEquals(made.response_format, { type: "json_schema", json_schema });
    await collect(at("https://api.openai.com/v1", { outputFormat: "json_object" }));
    assertEquals([sent[1]?.body.max_tokens, sent[1]?.body.max_completion_tokens], [undefined, 9]);
    assertEquals(sent[1]?.body.response_format, { type: "json_object" });
    const loose = openAiModel({ baseUrl: "https://api.test", model: "m", fetch });
    await collect(loose.stream({ ...hello, output: { name: "n", schema: open } }));
    assertEquals(sent[2]?.body.response_format.json_schema.strict, false);
  });

  test("a conversation with calls, results and pictures", async () => {
    const { fetch, sent } = endpoint(ended());
    const picture = { type: "image" as const, mimeType: "image/png", data: png };
    const messages: LanguageModelMessage[] = [
      { role: "system", content: "be kind" },
      { role: "user", content: [{ type: "text", text: "look" }, picture] },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "a", name: "f", arguments: { x: 1 } }, { id: "b", name: "g", arguments: "{bad" }],
      },
      { role: "tool", id: "a", name: "f", result: { content: [picture] } },
      { role: "tool", id: "b", name: "g", result: { content: [{ type: "text", text: "no" }], isError: true } },
      { role: "assistant", content: "so" },
      { role: "user", content: "go on" },
    ];
    await collect(openAiModel({ baseUrl: "https://api.test", model: "m", fetch }).stream({ messages }));
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };
    assertEquals(sent[0]?.body.messages, [
      { role: "system", content: "be kind" },
      { role: "user", content: [{ type: "text", text: "look" }, image] },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
          { id: "b", type: "function", function: { name: "g", arguments: '{"malformed_arguments":"{bad"}' } },
        ],
      },
      { role: "tool", tool_call_id: "a", content: "(what the tool gave follows in the next message of the user)" },
      { role: "tool", tool_call_id: "b", content: "Tool error: no" },
      { role: "user", content: [{ type: "text", text: 'From the tool "f" (call a):' }, image] },
      { role: "assistant", content: "so" },
      { role: "user", content: "go on" },
    ]);
  });

  test("what a provider wants to see again goes back to it, and to no other model", async () => {
    const extra_content = { google: { thought_signature: "sig" } };
    const first = delta({
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "th" }],
      tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" }, extra_content }],
    });
    const more = delta({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "ink", signature: "s" }] });
    const { fetch, sent } = endpoint(streamed(events(first, more, delta({}, "tool_calls"))), ended(), ended());
    const options = { baseUrl: "https://api.test", fetch, random: countingRandom() };
    const parts = await collect(openAiModel({ ...options, model: "m" }).stream(hello));
    const end = parts.at(-1);
    assert(end?.type === "end");
    const messages: LanguageModelMessage[] = [
      ...hello.messages,
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: {} }], provider: end.provider },
      { role: "tool", id: "a", name: "f", result: { content: [] } },
    ];
    await collect(openAiModel({ ...options, model: "m" }).stream({ messages }));
    await collect(openAiModel({ ...options, model: "other" }).stream({ messages }));
    const plain = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
    };
    assertEquals(sent[1]?.body.messages[1], {
      ...plain,
      tool_calls: [{ ...plain.tool_calls[0], extra_content }],
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "think", signature: "s" }],
    });
    assertEquals(sent[2]?.body.messages[1], plain);
  });
});

describe("options that cannot be used", () => {
  test("are named, and the key is not", () => {
    const make = (options: object) => () => openAiModel({ baseUrl: "https://api.test", model: "m", ...options });
    assertThrows(make({ baseUrl: "api.test/v1" }), TypeError, "expected an http: or https: URL");
    assertThrows(
      make({ baseUrl: "https://me:secret@api.test" }),
      TypeError,
      'Cannot use the base URL "https://api.test"',
    );
    assertThrows(make({ model: "" }), TypeError, "expected its name");
    assertThrows(make({ limits: { toolCalls: 0 } }), RangeError, '"limits.toolCalls" 0');
    assertThrows(make({ timeouts: { idle: -1 } }), RangeError, '"timeouts.idle" -1');
    assertThrows(make({ headers: { "a b": "x" } }), TypeError, 'header "a b"');
    const error = assertThrows(make({ apiKey: "secret\n123" }), TypeError, "Cannot use the API key");
    assert(!error.message.includes("secret"));
    const other = assertThrows(make({ headers: { "x-key": "secret\n123" } }), TypeError);
    assert(!other.message.includes("secret"));
  });
});
