import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { aiSdkModel, LanguageModelError } from "../../../src/agent/mod.ts";
import type { AiSdkLanguageModel, LanguageModelMessage, LanguageModelRequest } from "../../../src/agent/mod.ts";
import type { LogRecord } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { collect, hello, refused, tool } from "./support.ts";

const png = "iVBORw0KGgo=";

/** A model that gives these parts, and what it was asked. */
function model(
  version: "v2" | "v3" | "v4",
  parts: readonly unknown[] | (() => never),
): AiSdkLanguageModel & { asked: Record<string, unknown>[]; cancelled: number } {
  const made = {
    specificationVersion: version,
    provider: "test.messages",
    modelId: "m",
    asked: [] as Record<string, unknown>[],
    cancelled: 0,
    doStream(options: object) {
      made.asked.push({ ...options });
      if (typeof parts === "function") return Promise.reject(catchOf(parts));
      const left = [...parts];
      const stream = new ReadableStream<unknown>({
        pull(controller) {
          if (left.length > 0) controller.enqueue(left.shift());
          else controller.close();
        },
        cancel: () => void made.cancelled++,
      }, { highWaterMark: 0 });
      return Promise.resolve({ stream });
    },
  };
  return made;
}

function catchOf(run: () => never): unknown {
  try {
    return run();
  } catch (error) {
    return error;
  }
}

const start = { type: "stream-start", warnings: [] };
const usages = {
  v2: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
  v3: { inputTokens: { total: 7 }, outputTokens: { total: 3, text: 1, reasoning: 2 } },
  v4: { inputTokens: { total: 7 }, outputTokens: { total: 3 } },
};

function finish(version: "v2" | "v3" | "v4", why: string): unknown {
  return { type: "finish", finishReason: version === "v2" ? why : { unified: why, raw: why }, usage: usages[version] };
}

for (const version of ["v2", "v3", "v4"] as const) {
  describe(`a model of the specification ${version}`, () => {
    test("texts, calls, why it stopped and what it cost", async () => {
      const asked = model(version, [
        start,
        { type: "response-metadata", id: "r" },
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Hel" },
        { type: "text-delta", id: "1", delta: "lo" },
        { type: "text-end", id: "1" },
        { type: "tool-input-start", id: "a", toolName: "f" },
        { type: "tool-input-delta", id: "a", delta: '{"x":1}' },
        { type: "tool-input-end", id: "a" },
        { type: "tool-call", toolCallId: "a", toolName: "f", input: '{"x":1}' },
        { type: "tool-call", toolCallId: "b", toolName: "g", input: "{bad" },
        { type: "tool-call", toolCallId: "c", toolName: "search", input: "{}", providerExecuted: true },
        { type: "tool-result", toolCallId: "c", toolName: "search", result: {} },
        { type: "source", id: "s" },
        finish(version, "tool-calls"),
      ]);
      assertEquals(await collect(aiSdkModel(asked).stream(hello)), [
        { type: "text", text: "Hello" },
        { type: "tool_call", call: { id: "a", name: "f", arguments: { x: 1 } } },
        { type: "tool_call", call: { id: "b", name: "g", arguments: "{bad" } },
        { type: "end", reason: "tool_calls", usage: { inputTokens: 7, outputTokens: 3 } },
      ]);
    });

    test("thoughts and signatures are handed back as they came, to it alone", async () => {
      const words = { test: { signature: "sig" } };
      const asked = model(version, [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        { type: "reasoning-delta", id: "r", delta: "", providerMetadata: words },
        { type: "reasoning-end", id: "r" },
        { type: "tool-call", toolCallId: "a", toolName: "f", input: "{}", providerMetadata: { test: { id: 1 } } },
        finish(version, "tool-calls"),
      ]);
      const parts = await collect(aiSdkModel(asked).stream(hello));
      const end = parts.at(-1);
      assert(end?.type === "end");
      assertEquals(parts[0], { type: "reasoning", text: "hm" });
      const content = [
        { type: "reasoning", text: "hm", providerOptions: words },
        { type: "tool-call", toolCallId: "a", toolName: "f", input: {}, providerOptions: { test: { id: 1 } } },
      ];
      assertEquals(JSON.parse(JSON.stringify(end.provider)), { from: "test.messages m", content });
      const call = { id: "a", name: "f", arguments: {} };
      const messages: LanguageModelMessage[] = [
        { role: "assistant", content: "", toolCalls: [call], provider: end.provider },
        { role: "assistant", content: "", toolCalls: [call], provider: { ...end.provider, from: "another" } },
      ];
      await assertRejects(() => collect(aiSdkModel(model(version, [])).stream(hello)), LanguageModelError);
      const again = model(version, [finish(version, "stop")]);
      await collect(aiSdkModel(again).stream({ messages }));
      const plain = [{ type: "tool-call", toolCallId: "a", toolName: "f", input: {} }];
      assertEquals(again.asked[0]?.prompt, [{ role: "assistant", content }, { role: "assistant", content: plain }]);
    });

    test("what it is asked: prompt, results with pictures, tools, schema, settings", async () => {
      const asked = model(version, [finish(version, "stop")]);
      const picture = { type: "image" as const, mimeType: "image/png", data: png };
      const schema = { type: "object" };
      const request: LanguageModelRequest = {
        messages: [
          { role: "system", content: "be kind" },
          { role: "user", content: [{ type: "text", text: "look" }, picture] },
          { role: "assistant", content: "so", toolCalls: [{ id: "a", name: "f", arguments: "{bad" }] },
          { role: "tool", id: "a", name: "f", result: { content: [{ type: "text", text: "no" }], isError: true } },
          { role: "tool", id: "b", name: "g", result: { content: [picture], structuredContent: { x: 1 } } },
        ],
        tools: [tool("f")],
        output: { name: "n", schema },
        maxOutputTokens: 9,
        temperature: 1,
        stopSequences: ["END"],
      };
      const providerOptions = { test: { effort: "low" } };
      await collect(aiSdkModel(asked, { providerOptions }).stream(request));
      const { prompt, abortSignal, ...rest } = asked.asked[0] ?? {};
      assert(abortSignal instanceof AbortSignal);
      const data = version === "v4" ? { type: "data", data: png } : png;
      const type = { v2: "media", v3: "image-data", v4: "file" }[version];
      assertEquals(prompt, [
        { role: "system", content: "be kind" },
        {
          role: "user",
          content: [{ type: "text", text: "look" }, {
            type: "file",
            data,
            mediaType: "image/png",
            filename: "file.png",
          }],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "so" },
            { type: "tool-call", toolCallId: "a", toolName: "f", input: { malformed_arguments: "{bad" } },
          ],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "a",
              toolName: "f",
              output: { type: "error-text", value: "Tool error: no" },
            },
            {
              type: "tool-result",
              toolCallId: "b",
              toolName: "g",
              output: {
                type: "content",
                value: [{ type: "text", text: '{"x":1}' }, { type, data, mediaType: "image/png" }],
              },
            },
          ],
        },
      ]);
      assertEquals(rest, {
        tools: [{
          type: "function",
          name: "f",
          description: "Does f",
          inputSchema: { type: "object", properties: {} },
        }],
        toolChoice: { type: "auto" },
        responseFormat: { type: "json", schema, name: "n" },
        maxOutputTokens: 9,
        temperature: 1,
        stopSequences: ["END"],
        providerOptions,
      });
    });

    test("a thought without words is handed back where its signature is all of it; one without either is not", async () => {
      const hidden = { test: { redactedData: "x" } };
      const asked = model(version, [
        { type: "reasoning-start", id: "0", providerMetadata: hidden },
        { type: "reasoning-end", id: "0" },
        { type: "reasoning-start", id: "1" },
        { type: "reasoning-end", id: "1" },
        { type: "text-delta", id: "2", delta: "ok" },
        finish(version, "stop"),
      ]);
      const end = (await collect(aiSdkModel(asked).stream(hello))).at(-1);
      assert(end?.type === "end");
      assertEquals<unknown>(end.provider?.content, [
        { type: "reasoning", text: "", providerOptions: hidden },
        { type: "text", text: "ok" },
      ]);
    });

    test("a call without arguments is given once, before the one behind it", async () => {
      const asked = model(version, [
        { type: "tool-call", toolCallId: "a", toolName: "f", input: "" },
        { type: "tool-call", toolCallId: "b", toolName: "g", input: '{"x":1}' },
        { type: "tool-call", toolCallId: "c", toolName: "h" },
        finish(version, "tool-calls"),
      ]);
      const parts = await collect(aiSdkModel(asked).stream(hello));
      assertEquals(parts.flatMap((part) => part.type === "tool_call" ? [part.call] : []), [
        { id: "a", name: "f", arguments: {} },
        { id: "b", name: "g", arguments: { x: 1 } },
        { id: "c", name: "h", arguments: {} },
      ]);
    });

    test("an answer that says it has calls and has none ends otherwise; beside words, it has stopped", async () => {
      const said = { type: "text-delta", id: "1", delta: "ok" };
      for (const [parts, reason] of [[[], "other"], [[said], "stop"]] as const) {
        const asked = model(version, [...parts, finish(version, "tool-calls")]);
        const end = (await collect(aiSdkModel(asked).stream(hello))).at(-1);
        assertEquals(end?.type === "end" && end.reason, reason);
      }
    });

    test("each reason has a word", async () => {
      for (
        const [why, reason] of [["stop", "stop"], ["length", "length"], ["content-filter", "content_filter"], [
          "other",
          "other",
        ]]
      ) {
        const [end] = await collect(aiSdkModel(model(version, [finish(version, why ?? "")])).stream(hello));
        assert(end?.type === "end");
        assertEquals(end.reason as string, reason);
      }
      const broke = await refused(aiSdkModel(model(version, [finish(version, "error")])), "it broke off");
      assert(broke.retryable);
    });
  });
}

describe("failures of a provider", () => {
  const clock = new VirtualClock();
  const api = (more: object) =>
    Object.assign(new Error("Too many with Bearer abcdefgh"), { name: "AI_APICallError", ...more });

  test("an error of the SDK's, thrown or as a part", async () => {
    const limited = api({ statusCode: 429, isRetryable: true, responseHeaders: { "retry-after": "3" } });
    const thrown = model("v3", () => {
      throw limited;
    });
    for (const asked of [thrown, model("v3", [start, { type: "error", error: limited }])]) {
      const error = await refused(aiSdkModel(asked, { clock }), 'The model "m" answered 429: Too many');
      assertEquals([error.status, error.retryable, error.retryAfter], [429, true, 3_000]);
      assert(!error.message.includes("abcdefgh"));
    }
    const wrong = model("v3", () => {
      throw api({ statusCode: 400, isRetryable: false });
    });
    assertEquals((await refused(aiSdkModel(wrong))).retryable, false);
    const cut = model("v3", () => {
      throw api({ isRetryable: true });
    });
    assertEquals((await refused(aiSdkModel(cut))).retryable, true);
  });

  test("what the endpoint itself says of asking again holds: in its headers, or by its code", async () => {
    const body = (error: object) =>
      JSON.stringify({ error: { message: "no", type: "invalid_request_error", ...error } });
    const cases = [
      [{ statusCode: 502, isRetryable: true, responseHeaders: { "x-should-retry": "false" } }, false],
      [{ statusCode: 400, isRetryable: false, responseHeaders: { "x-should-retry": "true" } }, true],
      [{ statusCode: 400, isRetryable: false, responseBody: body({ code: "tool_use_failed" }) }, true],
      [{ statusCode: 429, isRetryable: true, responseBody: body({ code: "insufficient_quota" }) }, false],
      [{ statusCode: 400, isRetryable: false, responseBody: "<html>" }, false],
    ] as const;
    for (const [more, expected] of cases) {
      const refusing = model("v3", () => {
        throw api(more);
      });
      assertEquals((await refused(aiSdkModel(refusing))).retryable, expected, JSON.stringify(more));
    }
  });

  test("any other error, an object, a text, an early end, no stream", async () => {
    const part = (error: unknown) => refused(aiSdkModel(model("v2", [{ type: "error", error }])));
    assertEquals((await part(new Error("reset"))).message, 'The connection to the model "m" broke: reset');
    assertEquals((await part({ message: "busy", type: "overloaded_error" })).retryable, true);
    assertEquals((await part("no")).message, 'The model "m" refused: no');
    const prompt = Object.assign(new Error("bad prompt"), { name: "AI_InvalidPromptError" });
    assertEquals((await part(prompt)).retryable, false);
    assert((await refused(aiSdkModel(model("v2", [start])), "ended early")).retryable);
    const none = {
      ...model("v2", []),
      doStream: () => Promise.resolve({ stream: undefined as unknown as ReadableStream }),
    };
    await refused(aiSdkModel(none), "answered no stream");
  });

  test("limits and time", async () => {
    const text = { type: "text-delta", id: "1", delta: "x".repeat(100) };
    const long = model("v3", Array.from({ length: 30 }, () => text));
    await refused(aiSdkModel(long, { limits: { streamBytes: 1_000 } }), "limits.streamBytes");
    assertEquals(long.cancelled, 1);
    const call = { type: "tool-call", toolCallId: "a", toolName: "f", input: "{}" };
    await refused(aiSdkModel(model("v3", [call, call]), { limits: { toolCalls: 1 } }), "limits.toolCalls");
    const silent = { ...model("v3", []), doStream: () => Promise.resolve({ stream: new ReadableStream<unknown>() }) };
    const clock = new VirtualClock();
    await clock.until(refused(aiSdkModel(silent, { clock }), "timeouts.idle"));
    assertEquals(clock.waiting, 0);
  });

  test("the caller's own reason comes back", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const asked = model("v3", [{ type: "text-delta", id: "1", delta: "x" }, {
      type: "text-delta",
      id: "1",
      delta: "y",
    }]);
    const error = await assertRejects(async () => {
      for await (const part of aiSdkModel(asked).stream(hello, controller)) {
        assertEquals(part, { type: "text", text: "x" });
        controller.abort(reason);
      }
    });
    assertStrictEquals(error, reason);
    assertEquals(asked.cancelled, 1);
  });

  test("warnings reach the logger, which may throw", async () => {
    const records: LogRecord[] = [];
    const warning = { type: "unsupported-setting", setting: "temperature" };
    const asked = () => model("v2", [{ type: "stream-start", warnings: [warning] }, finish("v2", "stop")]);
    await collect(aiSdkModel(asked(), { logger: (record) => void records.push(record) }).stream(hello));
    assertEquals(records.map(({ level, fields }) => [level, fields?.warning]), [["warning", warning]]);
    const throwing = () => {
      throw new Error("full disk");
    };
    assertEquals((await collect(aiSdkModel(asked(), { logger: throwing }).stream(hello))).length, 1);
  });

  test("what is no model is named", () => {
    const make = (given: unknown) => () => aiSdkModel(given as AiSdkLanguageModel);
    assertThrows(make(undefined), TypeError, "expected a language model of the AI SDK");
    assertThrows(make("gpt"), TypeError, "(string)");
    assertThrows(make({ ...model("v2", []), specificationVersion: "v1" }), TypeError, 'specificationVersion "v1"');
  });
});
