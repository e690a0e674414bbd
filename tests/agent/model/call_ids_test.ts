import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { Agent, aiSdkModel, openAiModel } from "../../../src/agent/mod.ts";
import type { AiSdkLanguageModel } from "../../../src/agent/mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { countingRandom, delta, endpoint, events, streamed } from "./support.ts";

const look = { name: "look", description: "Looks", readOnly: true, run: () => "seen" };

/** A model of the AI SDK that thinks, and gives each of its calls the same id. */
function thinker(turns: readonly (readonly string[])[]): AiSdkLanguageModel & { prompts: JsonObject[][] } {
  const prompts: JsonObject[][] = [];
  return {
    specificationVersion: "v2",
    provider: "test",
    modelId: "m",
    prompts,
    doStream(options: object) {
      prompts.push(structuredClone((options as { prompt: JsonObject[] }).prompt));
      const calls = turns[prompts.length - 1] ?? [];
      const parts = [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        { type: "reasoning-end", id: "r", providerMetadata: { test: { signature: `${prompts.length}` } } },
        ...calls.map((toolCallId) => ({ type: "tool-call", toolCallId, toolName: "look", input: "{}" })),
        { type: "finish", finishReason: calls.length > 0 ? "tool-calls" : "stop", usage: {} },
      ];
      return Promise.resolve({ stream: ReadableStream.from(parts) as ReadableStream<unknown> });
    },
  };
}

describe("a provider that gives an id twice, and wants to see its own words again", () => {
  test("AI SDK: each result answers a call of the prompt", async () => {
    const model = thinker([["a"], ["a"], ["b", "b", ""], []]);
    await new Agent({ model: aiSdkModel(model), tools: [look] }).run("Go").result;
    const parts = model.prompts.at(-1)?.flatMap(({ content }) => Array.isArray(content) ? content : []) as JsonObject[];
    const idsOf = (type: string) => parts.filter((part) => part.type === type).map(({ toolCallId }) => toolCallId);
    const ids = idsOf("tool-call");
    assertEquals([ids.length, new Set(ids).size, ids.includes("")], [5, 5, false]);
    assertEquals(idsOf("tool-result"), ids);
  });

  test("chat completions: what belongs to a call goes back with it", async () => {
    const calls = (signature: string, ...ids: string[]) =>
      streamed(events(
        delta({
          tool_calls: ids.map((id, index) => ({
            index,
            id,
            function: { name: "look", arguments: "{}" },
            extra_content: { google: { thought_signature: signature } },
          })),
        }, "tool_calls"),
        "[DONE]",
      ));
    const { fetch, sent } = endpoint(
      calls("one", "a"),
      calls("two", "a"),
      streamed(events(delta({ content: "done" }, "stop"))),
    );
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, random: countingRandom() });
    await new Agent({ model, tools: [look] }).run("Go").result;
    const messages: JsonObject[] = sent.at(-1)?.body.messages;
    const written = messages.flatMap(({ tool_calls: calls }) => Array.isArray(calls) ? calls as JsonObject[] : []);
    const signatures = written.map(({ extra_content: extra }) => extra);
    assertEquals(signatures, ["one", "two"].map((one) => ({ google: { thought_signature: one } })));
    const answered = messages.filter(({ role }) => role === "tool").map(({ tool_call_id: id }) => id);
    assertEquals(answered, written.map(({ id }) => id));
    assertEquals(new Set(answered).size, 2);
  });
});
