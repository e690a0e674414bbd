import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { workersAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModelRequest, WorkersAiBinding, WorkersAiModelOptions } from "../../../src/agent/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { body, collect, countingRandom, delta, events, hello, refused, streamed, tool } from "./support.ts";

/** A binding that answers so, and what it was given. */
function binding(answer: unknown): WorkersAiBinding & { given: unknown[][] } {
  const given: unknown[][] = [];
  return {
    given,
    run(...parameters) {
      given.push(parameters);
      return typeof answer === "function" ? answer() : Promise.resolve(answer);
    },
  };
}

function ask(
  answer: unknown,
  request: LanguageModelRequest = hello,
  options: WorkersAiModelOptions = {},
): ReturnType<typeof collect> {
  return collect(workersAiModel(binding(answer), "@cf/m", { random: countingRandom(), ...options }).stream(request));
}

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const end = { type: "end" as const, usage: { inputTokens: 7, outputTokens: 3 } };
const firstId = "call_" + "01".repeat(12);

describe("answers of Workers AI", () => {
  test("its own stream: texts, numbers, usage", async () => {
    const stream = body([events({ response: "Hel", p: "abc" }, { response: "lo " }, { response: 4 }, {
      response: "",
      usage,
    }, "[DONE]")]);
    assertEquals(await ask(stream), [{ type: "text", text: "Hello 4" }, { ...end, reason: "stop" }]);
  });

  test("its own stream: calls, whole or in pieces", async () => {
    const whole = events({ response: null, tool_calls: [{ name: "f", arguments: { x: 1 } }] }, "[DONE]");
    assertEquals(await ask(body([whole])), [
      { type: "tool_call", call: { id: firstId, name: "f", arguments: { x: 1 } } },
      { type: "end", reason: "tool_calls" },
    ]);
    const pieces = events(
      { tool_calls: [{ id: "a", type: "function", index: 0, function: { name: "f" } }] },
      { tool_calls: [{ id: null, type: null, index: 0, function: { name: null, arguments: '{"x":' } }] },
      { tool_calls: [{ index: 0, function: { arguments: "1}" } }] },
      { response: "", usage },
      "[DONE]",
    );
    assertEquals(await ask(body([pieces])), [
      { type: "tool_call", call: { id: "a", name: "f", arguments: { x: 1 } } },
      { ...end, reason: "tool_calls" },
    ]);
  });

  test("a stream in OpenAI's shape, also inside of a reply", async () => {
    const text = events(delta({ reasoning_content: "hm" }), delta({ content: "Hi" }), delta({}, "length"), "[DONE]");
    for (const answer of [body([text]), streamed(text)]) {
      assertEquals(await ask(answer), [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Hi" },
        { type: "end", reason: "length" },
      ]);
    }
  });

  test("not streamed: its own shape, an object for a schema, OpenAI's shape", async () => {
    assertEquals(await ask({ response: "Hi", tool_calls: [], usage }), [
      { type: "text", text: "Hi" },
      { ...end, reason: "stop" },
    ]);
    assertEquals(await ask({ response: { a: 1 } }), [{ type: "text", text: '{"a":1}' }, {
      type: "end",
      reason: "stop",
    }]);
    assertEquals(await ask({ choices: [{ message: { content: "Hi" }, finish_reason: "stop" }], usage }), [
      { type: "text", text: "Hi" },
      { ...end, reason: "stop" },
    ]);
  });
});

describe("what Workers AI is asked", () => {
  test("the conversation, tools, settings and options", async () => {
    const env = binding(body([events({ response: "x" }, "[DONE]")]));
    const request: LanguageModelRequest = {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: {} }] },
        { role: "tool", id: "a", name: "f", result: { content: [{ type: "text", text: "done" }] } },
      ],
      tools: [tool("f")],
      toolChoice: "required",
      maxOutputTokens: 9,
    };
    const run = { gateway: { id: "g" } };
    await collect(workersAiModel(env, "@cf/m", { run, body: { top_p: 1 } }).stream(request));
    const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    assertEquals(env.given, [["@cf/m", {
      messages: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "", tool_calls: [call] },
        { role: "tool", tool_call_id: "a", content: "done", name: "f" },
      ],
      tools: [{
        type: "function",
        function: { name: "f", description: "Does f", parameters: { type: "object", properties: {} } },
      }],
      tool_choice: "required",
      max_tokens: 9,
      stream: true,
      top_p: 1,
    }, run]]);
  });

  test("a schema, which is never streamed, and no tools where none may be called", async () => {
    const env = binding({ response: { a: 1 } });
    const schema = { type: "object" };
    const request = { ...hello, tools: [tool("f")], toolChoice: "none" as const, output: { name: "n", schema } };
    await collect(workersAiModel(env, "@cf/m").stream(request));
    assertEquals(env.given[0]?.[1], {
      messages: [{ role: "user", content: "hello" }],
      response_format: { type: "json_schema", json_schema: schema },
    });
  });
});

describe("failures of Workers AI", () => {
  test("what the binding throws, and whether to ask again", async () => {
    const failing = (message: string) =>
      refused(workersAiModel(binding(() => Promise.reject(new Error(message))), "@cf/m"), message);
    assertEquals((await failing("3040: Capacity temporarily exceeded, please try again.")).retryable, true);
    assertEquals((await failing("5007: No such model @cf/m or task")).retryable, false);
    const sync = binding(() => {
      throw new Error("at once");
    });
    await refused(workersAiModel(sync, "@cf/m"), "at once");
  });

  test("errors in the stream, an early end, nothing that is known", async () => {
    const at = (answer: unknown) => workersAiModel(binding(answer), "@cf/m");
    await refused(at(body([events({ errors: [{ code: 3040, message: "full" }] })])), "full");
    assert((await refused(at(body([events({ response: "x" })])), "ended early")).retryable);
    await refused(at("text"), 'answered nothing that is known: "text"');
    await refused(at(undefined), "answered nothing that is known");
    await refused(at({ hello: 1 }), "answered JSON that is no completion");
  });

  test("called off, out of time: a stream that comes late is given up", async () => {
    const reason = new Error("enough");
    for (const isTime of [true, false]) {
      const clock = new VirtualClock();
      const controller = new AbortController();
      let answer: (value: unknown) => void = () => {};
      const late = new Promise((resolve) => answer = resolve);
      let cancelled = 0;
      const model = workersAiModel(binding(() => late), "@cf/m", { clock, timeouts: { headers: 1_000 } });
      const running = assertRejects(() => collect(model.stream(hello, controller)), Error);
      await clock.settle();
      if (isTime) await clock.advance(1_000);
      else controller.abort(reason);
      const error = await running;
      if (isTime) assert(error.message.includes("timeouts.headers"), error.message);
      else assertStrictEquals(error, reason);
      answer(body(["data: "], () => void cancelled++));
      await clock.settle();
      assertEquals([cancelled, clock.waiting], [1, 0]);
    }
  });

  test("its limits, silence in the middle, and an id that the conversation has already", async () => {
    const calls = { tool_calls: [{ id: "a", name: "f", arguments: {} }, { id: "b", name: "f", arguments: {} }] };
    await refused(workersAiModel(binding(calls), "@cf/m", { limits: { toolCalls: 1 } }), "limits.toolCalls");
    const clock = new VirtualClock();
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array([58, 10])),
    });
    const failing = refused(
      workersAiModel(binding(silent), "@cf/m", { clock, timeouts: { idle: 500 } }),
      "timeouts.idle",
    );
    await clock.settle();
    await clock.advance(500);
    await failing;
    const result = { content: [] };
    const messages: LanguageModelRequest["messages"] = [
      ...hello.messages,
      { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: {} }] },
      { role: "tool", id: "a", name: "f", result },
    ];
    const ids = (await ask(calls, { messages })).flatMap((part) => part.type === "tool_call" ? [part.call.id] : []);
    assertEquals(ids, [firstId, "b"]);
    assertEquals(workersAiModel(binding({}), "@cf/m", { maxInputTokens: 7 }).maxInputTokens, 7);
  });

  test("what cannot be used is named", () => {
    const bad = {} as unknown as WorkersAiBinding;
    assertThrows(() => workersAiModel(bad, "@cf/m"), TypeError, "expected env.AI of a Worker");
    assertThrows(() => workersAiModel(binding({}), ""), TypeError, "expected its name");
  });
});
