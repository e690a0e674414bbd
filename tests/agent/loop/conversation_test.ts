import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import { Agent, ModelError, openAiModel } from "../../../src/agent/mod.ts";
import type { ChatMessage } from "../../../src/agent/mod.ts";
import { countingRandom, delta, endpoint, events, streamed } from "../model/support.ts";

/** What a model behind an agent is sent for a call that a caller's conversation holds. */
async function sentFor(given: unknown): Promise<unknown> {
  const { fetch, sent } = endpoint(streamed(events(delta({ content: "Hi" }, "stop"))));
  const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch, random: countingRandom() });
  const messages = [
    { role: "assistant", content: null, tool_calls: [{ id: "x", function: { name: "look", arguments: given } }] },
    { role: "tool", tool_call_id: "x", content: "seen" },
    { role: "user", content: "And now?" },
  ] as unknown as ChatMessage[];
  const pieces = new Agent({ model }).respond(messages, {
    signal: new AbortController().signal,
    request: {},
  }) as AsyncGenerator<string>;
  for await (const _ of pieces);
  return sent[0]?.body.messages[0].tool_calls[0].function.arguments;
}

describe("calls in the conversation of a caller", () => {
  test("reach the model as they were made", async () => {
    assertEquals(await sentFor('{"city": "Rome"}'), '{"city":"Rome"}');
    assertEquals(await sentFor({ city: "Rome" }), '{"city":"Rome"}');
    assertEquals(await sentFor(""), "{}");
    assertEquals(await sentFor(undefined), "{}");
    assertEquals(await sentFor('{"city'), '{"malformed_arguments":"{\\"city"}');
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    assertEquals(await sentFor(deep), JSON.stringify({ malformed_arguments: deep }));
    assertEquals(await sentFor("[1]"), '{"malformed_arguments":"[1]"}');
  });

  test("with arguments that are neither a text nor an object are refused by their place", () => {
    const agent = new Agent({ model: openAiModel({ baseUrl: "https://api.test/v1", model: "m" }) });
    const call = { id: "x", function: { name: "look", arguments: [1] } };
    const messages = [{ role: "assistant", content: null, tool_calls: [call] }] as unknown as ChatMessage[];
    const context = { signal: new AbortController().signal, request: {} };
    const error = assertThrows(() => agent.respond(messages, context), ModelError, '"arguments"');
    assertEquals([error.status, error.param], [400, "messages[0].tool_calls[0]"]);
  });
});
