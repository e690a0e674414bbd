/** Our model against our own endpoint: what the one writes, the other reads. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createModelHandler, ModelError, openAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModel } from "../../../src/agent/mod.ts";
import { BothAgent } from "../support.ts";
import { collect, hello, refused, tool } from "./support.ts";

function join(respond: BothAgent["respond"], stream: boolean): LanguageModel {
  const handler = createModelHandler(new BothAgent(respond));
  return openAiModel({
    baseUrl: "http://127.0.0.1:8787/v1",
    model: "causeway-both",
    stream,
    fetch: (url, init) => Promise.resolve(handler(new Request(url, init))),
  });
}

for (const stream of [true, false]) {
  describe(`our own endpoint, ${stream ? "streamed" : "whole"}`, () => {
    test("text, usage, and tools of the caller's", async () => {
      const toolCalls = [{ id: "c1", name: "look", arguments: { at: 1 } }, { id: "c2", name: "go", arguments: {} }];
      const usage = { inputTokens: 3, outputTokens: 4 };
      const model = join(() => ({ content: "I look", usage, toolCalls }), stream);
      assertEquals(await collect(model.stream({ ...hello, tools: [tool("look"), tool("go")] })), [
        { type: "text", text: "I look" },
        ...toolCalls.map((call) => ({ type: "tool_call" as const, call })),
        { type: "end", reason: "tool_calls", usage },
      ]);
    });

    test("a refusal before the first piece, and one in the middle", async () => {
      const busy = join(() => Promise.reject(new ModelError("busy", { status: 503 })), stream);
      const error = await refused(busy, 'The model "causeway-both" answered 503: busy');
      assertEquals([error.status, error.retryable], [503, true]);
      const breaking = join(async function* () {
        yield await Promise.resolve("half");
        throw new ModelError("gone", { status: 500 });
      }, stream);
      assertEquals((await refused(breaking, "gone")).retryable, true);
    });

    test("what may have done something is asked once", async () => {
      const done = { status: 502, code: "model_error", retryable: false };
      const failed = join(() => Promise.reject(new ModelError("failed", done)), stream);
      assertEquals((await refused(failed, "failed")).retryable, false);
      const busy = join(() => Promise.reject(new ModelError("busy", { status: 400, retryable: true })), stream);
      assertEquals((await refused(busy, "busy")).retryable, true);
    });
  });
}
