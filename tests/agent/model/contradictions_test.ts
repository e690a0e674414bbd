import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent, aiSdkModel, workersAiModel } from "../../../src/agent/mod.ts";
import type { AgentEnd, AiSdkLanguageModel, LanguageModel, LanguageModelEnd } from "../../../src/agent/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { body, collect, delta, endpoint, events, hello, modelAt, streamed } from "./support.ts";
import { openAiModel } from "../../../src/agent/mod.ts";

/** A model of the AI SDK that gives these parts, answer by answer. */
function sdk(...answers: object[][]): LanguageModel {
  const model: AiSdkLanguageModel = {
    specificationVersion: "v2",
    provider: "test",
    modelId: "m",
    doStream: () => Promise.resolve({ stream: ReadableStream.from(answers.shift() ?? []) as ReadableStream<unknown> }),
  };
  return aiSdkModel(model);
}

function completions(...answers: object[][]): LanguageModel {
  const { fetch } = endpoint(...answers.map((chunks) => streamed(events(...chunks, "[DONE]"))));
  return openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
}

async function callsOf(model: LanguageModel): Promise<unknown[]> {
  return (await collect(model.stream(hello))).flatMap((part) => part.type === "tool_call" ? [part.call.arguments] : []);
}

const nothing = { tool_calls: [{ index: 0, id: "a", function: { name: "wipe", arguments: "" } }] };

describe("a call that is cut off before its arguments is not made without any", () => {
  for (const why of ["length", "content-filter"]) {
    test(`AI SDK: ${why}`, async () => {
      const call = (toolCallId: string) => ({ type: "tool-call", toolCallId, toolName: "wipe", input: "" });
      const end = (finishReason: string) => ({ type: "finish", finishReason, usage: {} });
      assertEquals(await callsOf(sdk([call("a"), call("b"), end(why)])), [{}, "{"]);
      assertEquals(await callsOf(sdk([call("a"), call("b"), end("tool-calls")])), [{}, {}]);
    });
  }

  test("chat completions: content_filter", async () => {
    assertEquals(await callsOf(modelAt(streamed(events(delta(nothing, "content_filter"))))), ["{"]);
    assertEquals(await callsOf(modelAt(streamed(events(delta(nothing, "stop"))))), [{}]);
  });
});

describe("calls whose pieces cannot be told apart by number and id", () => {
  const call = (name: string | undefined, given?: unknown, id?: string) => ({
    index: 0,
    ...(id && { id }),
    function: { ...(name && { name }), ...(given !== undefined && { arguments: given }) },
  });
  const named = async (...tool_calls: object[]) => {
    const chunks = tool_calls.map((one) => delta({ tool_calls: [one] }));
    const parts = await collect(modelAt(streamed(events(...chunks, delta({}, "tool_calls")))).stream(hello));
    return parts.flatMap((part) => part.type === "tool_call" ? [[part.call.name, part.call.arguments]] : []);
  };

  test("another name is another call: the first, without arguments, does not get those of the second", async () => {
    for (const nothing of [undefined, "", null]) {
      assertEquals(await named(call("wipe", nothing), call("look", '{"x":1}')), [["wipe", {}], ["look", { x: 1 }]]);
    }
    assertEquals(await named(call("look", '{"x":'), call("look", "1}")), [["look", { x: 1 }]]);
  });

  test("so it is where all have one id, with a number or without, in pieces or whole", async () => {
    const calls = [call("wipe", "{}", "x"), call("look", '{"x":1}', "x")];
    const expected = [["wipe", {}], ["look", { x: 1 }]];
    assertEquals(await named(...calls), expected);
    const whole = calls.map(({ id, function: about }) => ({ id, type: "function", function: about }));
    assertEquals(await named(...whole), expected);
    const message = { role: "assistant", content: null, tool_calls: whole };
    const body = { choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
    const parts = await collect(modelAt(Response.json(body)).stream(hello));
    assertEquals(
      parts.flatMap((part) => part.type === "tool_call" ? [[part.call.name, part.call.arguments]] : []),
      expected,
    );
  });

  test("an empty object before the arguments themselves is none", async () => {
    for (const before of ["{}", {}]) {
      const pieces = [call("look", before, "a"), call(undefined, '{"x":'), call(undefined, "1}")];
      assertEquals(await named(...pieces), [["look", { x: 1 }]], JSON.stringify(before));
    }
    assertEquals(await named(call("look", "{}", "a")), [["look", {}]]);
    assertEquals(await named(call("look", {}, "a"), call(undefined, "")), [["look", {}]]);
  });
});

describe("arguments that are told again", () => {
  const piece = (given: string, more: object = {}) =>
    delta({ tool_calls: [{ index: 0, function: { arguments: given }, ...more }] });
  const first = { id: "a", function: { name: "look", arguments: "" } };

  test("are those of one call, whether they came whole or in pieces", async () => {
    const whole = '{"x":{"y":1}}';
    for (const given of [[whole, whole], ['{"x":', '{"y":1}}', whole], [whole, whole, whole]]) {
      const chunks = [piece("", first), ...given.map((one) => piece(one)), delta({}, "tool_calls")];
      assertEquals(await callsOf(completions(chunks)), [{ x: { y: 1 } }], given.join(" "));
      const named = given.map((one) => piece(one, { id: "a", function: { name: "look", arguments: one } }));
      assertEquals(await callsOf(completions([...named, delta({}, "tool_calls")])), [{ x: { y: 1 } }]);
    }
    const other = [piece("", first), piece(whole), piece('{"x":2}'), delta({}, "tool_calls")];
    assertEquals(await callsOf(completions(other)), [`${whole}{"x":2}`]);
  });
});

describe("an answer that was broken off is none", () => {
  const half = (why: string) => [delta({ content: "half" }), delta({}, why)];

  test("it is asked for again where the provider broke off", async () => {
    for (const why of ["error", "abort", "insufficient_system_resource", "network_error"]) {
      const clock = new VirtualClock();
      const model = completions(half(why), [delta({ content: "whole" }, "stop")]);
      const end = await clock.until(new Agent({ model, clock }).run("Go").end);
      assertEquals(end.type === "succeeded" && end.text, "whole", why);
    }
  });

  test("filters and windows have many names", async () => {
    const filters = ["RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "sensitive", "content_filter: OTHER"];
    const cases = [...filters.map((why) => [why, "content_filter"]), ["model_context_window_exceeded", "length"]];
    for (const [why, reason] of cases as [string, LanguageModelEnd][]) {
      const end = (await collect(completions(half(why)).stream(hello))).at(-1);
      assertEquals(end, { type: "end", reason }, why);
    }
  });

  test("a model whose call its provider could not read is asked again (Groq)", async () => {
    const error = { message: "Failed to call a function", type: "invalid_request_error", code: "tool_use_failed" };
    const refused = Response.json({ error: { ...error, failed_generation: "<function=" } }, { status: 400 });
    for (
      const first of [refused, streamed(events(delta({ content: "" }), { error: { ...error, status_code: 400 } }))]
    ) {
      const { fetch } = endpoint(first, streamed(events(delta({ content: "here" }, "stop"))));
      const clock = new VirtualClock();
      const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
      const end = await clock.until(new Agent({ model, clock }).run("Go").end);
      assertEquals(end.type === "succeeded" && end.text, "here");
    }
  });
});

describe("an answer with nothing in it", () => {
  const run = async (model: LanguageModel): Promise<AgentEnd> => {
    const clock = new VirtualClock();
    return await clock.until(new Agent({ model, clock }).run("Go").end);
  };

  test("that says it has calls, or stops for a reason of its own, is asked for again", async () => {
    for (const why of ["tool_calls", "MALFORMED_FUNCTION_CALL"]) {
      const end = await run(completions([delta({}, why)], [delta({ content: "here" }, "stop")]));
      assertEquals(end.type === "succeeded" && end.text, "here", why);
      const failed = await run(completions([delta({}, why)], [delta({}, why)], [delta({}, why)]));
      assertEquals(failed.type === "failed" && failed.error.code, "model_error", why);
    }
    const end = await run(
      sdk([{ type: "finish", finishReason: "tool-calls", usage: {} }], [
        { type: "text-delta", id: "1", delta: "here" },
        { type: "finish", finishReason: "stop", usage: {} },
      ]),
    );
    assertEquals(end.type === "succeeded" && end.text, "here");
  });

  test("that is done is an answer", async () => {
    const end = await run(completions([delta({}, "stop")]));
    assertEquals(end.type === "succeeded" && end.text, "");
  });
});

describe("what an answer cost, where its provider does not tell, or tells nothing", () => {
  const text = "x".repeat(4_000);
  const thought = "y".repeat(4_000);
  const zero = { prompt_tokens: 0, completion_tokens: 0 };

  async function usageOf(model: LanguageModel): Promise<number> {
    const { usage } = await new Agent({ model }).run("Go").end;
    return usage.inputTokens + usage.outputTokens;
  }

  test("is estimated where it says that nothing was read", async () => {
    const used = [
      await usageOf(completions([delta({ content: text }, "stop"), { choices: [], usage: zero }])),
      await usageOf(sdk([
        { type: "text-delta", id: "1", delta: text },
        { type: "finish", finishReason: "stop", usage: { inputTokens: 0, outputTokens: 0 } },
      ])),
      await usageOf(workersAiModel({
        run: () => Promise.resolve(body([events({ response: text }, { response: "", usage: zero }, "[DONE]")])),
      }, "@cf/m")),
    ];
    assertEquals(used.map((tokens) => tokens > 1_000), [true, true, true], used.join());
  });

  test("is estimated where only half of it is told, and what it thought counts", async () => {
    const half = await usageOf(
      completions([delta({ content: text }, "stop"), { choices: [], usage: { prompt_tokens: 9 } }]),
    );
    const thinks = await usageOf(completions([delta({ reasoning_content: thought }), delta({ content: "x" }, "stop")]));
    assertEquals([half > 1_000, thinks > 1_000], [true, true], `${half} ${thinks}`);
  });

  test("is what was told last, though more comes behind it; of several answers the first counts", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 3 };
    const other = { index: 1, delta: { content: "no" }, finish_reason: null };
    const first = { index: 0, delta: { content: "yes" }, finish_reason: "stop" };
    const parts = await collect(
      completions([{ choices: [other, first] }, { choices: [], usage }, { choices: [] }]).stream(hello),
    );
    assertEquals(parts, [
      { type: "text", text: "yes" },
      { type: "end", reason: "stop", usage: { inputTokens: 7, outputTokens: 3 } },
    ]);
  });
});
