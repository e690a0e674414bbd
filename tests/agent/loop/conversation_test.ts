import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { askModel } from "../../../src/agent/loop/turns/ask.ts";
import { Agent, createModelHandler, ModelError, openAiModel } from "../../../src/agent/mod.ts";
import type { ChatMessage } from "../../../src/agent/mod.ts";
import { LanguageModelError } from "../../../src/agent/model/seam.ts";
import { systemRandom } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
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

describe("a refusal in the conversation of a caller", () => {
  test("is what was said, whichever way OpenAI's models write it", async () => {
    const { fetch, sent } = endpoint(streamed(events(delta({ content: "Hi" }, "stop"))));
    const model = openAiModel({ baseUrl: "https://api.test/v1", model: "m", fetch });
    const agent = new Agent({ model, name: "helper" });
    const body = {
      model: agent.getModelId(),
      messages: [
        { role: "assistant", content: null, refusal: "No." },
        { role: "assistant", content: [{ type: "refusal", refusal: "Never." }] },
        // As OpenAI's libraries put it together from a stream.
        { role: "assistant", content: "", refusal: "Stop." },
        { role: "assistant", content: "", refusal: { is: "no text" } },
        { role: "user", content: "And now?" },
      ],
    };
    const headers = { "content-type": "application/json" };
    const request = new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    assertEquals((await createModelHandler(agent)(request)).status, 200);
    const contents = sent[0]?.body.messages.map(({ content }: { content: string }) => content);
    assertEquals(contents, ["No.", "Never.", "Stop.", "(no answer)", "And now?"]);
  });
});

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

test("a model that throws at once leaves nothing at the signal of its run", async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = AbortSignal.prototype;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners.add(given[1]);
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners.delete(given[1]);
    removeEventListener.apply(signal, given);
  };
  const model = {
    id: "broken",
    stream(): never {
      throw new LanguageModelError("it has no key");
    },
  };
  const parts = { model, clock: new VirtualClock(), random: systemRandom, signal };
  await assertRejects(() => askModel({ messages: [], tools: [] }, parts), LanguageModelError, "it has no key");
  assertEquals(listeners.size, 0);
});

test("a model of one's own that gives what is no part is told of that, once", async () => {
  for (const part of ["Hello", null, {}, { type: "text" }, { type: "tool_call" }]) {
    let asked = 0;
    const model = {
      id: "own",
      async *stream(): AsyncGenerator<never> {
        asked++;
        yield part as never;
      },
    };
    const parts = { model, clock: new VirtualClock(), random: systemRandom, signal: new AbortController().signal };
    const asking = askModel({ messages: [], tools: [] }, parts);
    const said = `The model "own" gave ${JSON.stringify(part)}, expected a part such as {"type":"text","text":"…"}`;
    assertEquals((await assertRejects(() => asking, LanguageModelError)).message, said);
    assertEquals(asked, 1);
  }
});
