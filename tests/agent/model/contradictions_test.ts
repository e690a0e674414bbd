import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent, aiSdkModel, workersAiModel } from "../../../src/agent/mod.ts";
import type { AgentEnd, AiSdkLanguageModel, LanguageModel } from "../../../src/agent/mod.ts";
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
});
