import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { createModelHandler, ModelError, textOfMessage } from "../../src/agent/mod.ts";
import type { ChatMessage, ModelReturn, RouteOptions } from "../../src/agent/mod.ts";
import type { JsonObject } from "../../src/protocol/mod.ts";
import type { LogRecord } from "../../src/ports.ts";
import { InvalidParamsError } from "../../src/protocol/errors.ts";
import { VirtualClock } from "../support/virtual_clock.ts";
import { until } from "../support/clients.ts";
import { BothAgent, chat, errorOf, events, get, post } from "./support.ts";

const completions = "/v1/chat/completions";

function ask(respond: BothAgent["respond"], body: JsonObject = {}, options: RouteOptions = {}): Promise<Response> {
  return createModelHandler(new BothAgent(respond), options)(post(completions, chat(body)));
}

async function* pieces(
  ...texts: string[]
): AsyncGenerator<string, { usage: { inputTokens: number; outputTokens: number } }> {
  yield* texts;
  return { usage: { inputTokens: 3, outputTokens: 4 } };
}

describe("chat completions: a whole reply", () => {
  test("a text, with an estimate of the tokens", async () => {
    const response = await ask((messages) => `You said: ${textOfMessage(messages[0]!)}`);
    assertEquals([response.status, response.headers.get("content-type")], [200, "application/json"]);
    const { id, object, created, model, choices, usage } = await response.json();
    assertMatch(id, /^chatcmpl-[0-9a-f]{24}$/);
    assertEquals([object, model, Number.isInteger(created)], ["chat.completion", "causeway-both", true]);
    const message = { role: "assistant", content: "You said: hi there", refusal: null };
    assertEquals(choices, [{ index: 0, message, logprobs: null, finish_reason: "stop" }]);
    assertEquals(usage, { prompt_tokens: 2, completion_tokens: 5, total_tokens: 7 });
  });

  test("an object with usage and a reason, and pieces, come out whole", async () => {
    const usage = { inputTokens: 10, outputTokens: 20 };
    const object = await (await ask(() => Promise.resolve({ content: "cut", usage, finishReason: "length" }))).json();
    assertEquals([object.choices[0].message.content, object.choices[0].finish_reason], ["cut", "length"]);
    assertEquals(object.usage, { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 });
    const whole = await (await ask(() => pieces("a", "", "b"))).json();
    assertEquals([whole.choices[0].message.content, whole.usage.total_tokens], ["ab", 7]);
  });

  test("tools of the caller's are asked for, whole and as a stream", async () => {
    const toolCalls = [{ id: "c1", name: "look", arguments: { at: 1 } }, { id: "c2", name: "go", arguments: "{}" }];
    const first = { id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
    const second = { id: "c2", type: "function", function: { name: "go", arguments: "{}" } };
    const [choice] = (await (await ask(() => ({ content: "", toolCalls }))).json()).choices;
    assertEquals([choice.finish_reason, choice.message.content], ["tool_calls", null]);
    assertEquals(choice.message.tool_calls, [first, second]);
    const { data } = await events(await ask(() => ({ content: "", toolCalls }), { stream: true }));
    const chunks = data.slice(0, -1).map((text) => JSON.parse(text).choices[0]);
    assertEquals(chunks[1].delta, { tool_calls: [{ index: 0, ...first }, { index: 1, ...second }] });
    assertEquals(chunks.at(-1).finish_reason, "tool_calls");
    const bad = [{ id: 1 }] as unknown as typeof toolCalls;
    assertEquals((await ask(() => ({ content: "", toolCalls: bad }))).status, 500);
  });

  test("a stream has no character but CR and LF that some client ends a line at", async () => {
    const odd = "one\u2028two\u2029three\u0085four";
    const text = await (await ask(() => pieces(odd), { stream: true })).text();
    assertEquals(text.match(/[\x85\u2028\u2029]/g), null);
    const deltas = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!).choices[0].delta.content);
    assertEquals(deltas.filter(Boolean), [odd]);
  });

  test("the agent gets the whole conversation and the request", async () => {
    const seen: unknown[] = [];
    const messages = [
      { role: "system", content: "be kind" },
      { role: "user", content: [{ type: "text", text: "look" }, { type: "image_url", image_url: { url: "data:," } }] },
      { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { name: "f" } }] },
      { role: "tool", tool_call_id: "1", content: "42" },
    ];
    const response = await ask((given, { model, request, auth }) => {
      seen.push(given, model, request.temperature, auth);
      return "fine";
    }, { messages, temperature: 0.5 });
    assertEquals(response.status, 200);
    assertEquals(seen, [messages, "causeway-both", 0.5, undefined]);
    assertEquals(textOfMessage(messages[1] as ChatMessage), "look");
  });
});

describe("chat completions: a stream", () => {
  const read = async (response: Response) => {
    const { data } = await events(response);
    assertEquals(data.at(-1), "[DONE]");
    return data.slice(0, -1).map((text) => JSON.parse(text));
  };

  test("a role, the pieces, a reason, the last line", async () => {
    const response = await ask(() => pieces("Hel", "", "lo"), { stream: true });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    assertEquals(response.headers.get("x-accel-buffering"), "no");
    assertStringIncludes(response.headers.get("cache-control") ?? "", "no-transform");
    const chunks = await read(response);
    assertEquals(chunks.map(({ choices }) => [choices[0].delta, choices[0].finish_reason]), [
      [{ role: "assistant", content: "" }, null],
      [{ content: "Hel" }, null],
      [{ content: "lo" }, null],
      [{}, "stop"],
    ]);
    assertEquals(new Set(chunks.map(({ id }) => id)).size, 1);
    assert(chunks.every(({ object, usage }) => object === "chat.completion.chunk" && usage === undefined));
  });

  test("include_usage adds one chunk without choices", async () => {
    const chunks = await read(await ask(() => pieces("a"), { stream: true, stream_options: { include_usage: true } }));
    const { choices, usage } = chunks.at(-1);
    assertEquals([choices, usage], [[], { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }]);
    assert(chunks.slice(0, -1).every(({ usage }) => usage === null));
  });

  test("a text that came whole is streamed too", async () => {
    const chunks = await read(await ask(() => "all of it", { stream: true }));
    assertEquals(chunks[1].choices[0].delta, { content: "all of it" });
  });

  test("what fails before the first piece has a status; what breaks off later ends without the last line", async () => {
    const early = await ask(() => {
      throw new ModelError("Too many", { status: 429, code: "rate_limit_exceeded" });
    }, { stream: true });
    assertEquals(await errorOf(early), {
      status: 429,
      message: "Too many",
      type: "rate_limit_error",
      param: null,
      code: "rate_limit_exceeded",
    });
    const log: LogRecord[] = [];
    const late = await ask(
      async function* () {
        yield "so far";
        throw new Error("secret at /home/me");
      },
      { stream: true },
      { logger: (record) => log.push(record) },
    );
    const { data } = await events(late);
    assertEquals(JSON.parse(data.at(-1)!).error, {
      message: "The agent could not answer",
      type: "server_error",
      param: null,
      code: "internal_error",
    });
    assert(!data.join().includes("secret") && !data.includes("[DONE]"));
    assertEquals(log.map(({ level }) => level), ["error"]);
  });

  for (const [keepAlive, silence] of [[1_000, 1_000], [0, 5_000], [-1, 5_000]] as const) {
    test(`a silent agent's stream begins after a while and is kept open by comments (${keepAlive})`, async () => {
      const clock = new VirtualClock();
      let go: (text: string) => void = () => {};
      const waits = new Promise<string>((resolve) => go = resolve);
      const answer = ask(
        async function* () {
          yield await waits;
        },
        { stream: true },
        { clock, keepAlive },
      );
      await until(() => clock.waiting > 0);
      await clock.advance(silence - 1);
      let isThere = false;
      void answer.then(() => isThere = true);
      await clock.settle();
      assertEquals(isThere, false);
      await clock.advance(1);
      const response = await answer;
      const reader = response.body!.getReader();
      const next = async () => new TextDecoder().decode((await reader.read()).value);
      assert((await next()).includes('"role":"assistant"'));
      const comment = next();
      await until(() => clock.waiting > 0);
      await clock.advance(silence);
      assertEquals(await comment, ": keep-alive\n\n");
      go("at last");
      assert((await next()).includes("at last"));
      await reader.cancel();
      assertEquals(clock.waiting, 0);
    });
  }
});

describe("chat completions: callers that leave", () => {
  test("the signal of the request reaches the agent, whole or as a stream", async () => {
    for (const stream of [false, true]) {
      const controller = new AbortController();
      let signal: AbortSignal | undefined;
      const handler = createModelHandler(
        new BothAgent((_messages, context) => {
          signal = context.signal;
          return new Promise<ModelReturn>(() => {});
        }),
      );
      const answer = handler(post(completions, chat({ stream }), { signal: controller.signal }));
      await until(() => signal !== undefined);
      assertEquals(signal?.aborted, false);
      controller.abort();
      const response = await answer;
      await response.body?.cancel();
      assertEquals(signal?.aborted, true);
    }
  });

  test("a reader that cancels the stream stops the agent, also one that does not look at the signal", async () => {
    let signal: AbortSignal | undefined;
    let ended = false;
    const response = await ask(async function* (_messages, context) {
      signal = context.signal;
      try {
        for (;;) yield "more ";
      } finally {
        ended = true;
      }
    }, { stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    assertEquals(signal?.aborted, true);
    await until(() => ended);
  });

  test("a caller that leaves a stream which nobody reads stops the agent too", async () => {
    const controller = new AbortController();
    let ended = false;
    const handler = createModelHandler(
      new BothAgent(async function* () {
        try {
          yield "nobody";
        } finally {
          ended = true;
        }
      }),
    );
    const response = await handler(post(completions, chat({ stream: true }), { signal: controller.signal }));
    assertEquals(response.status, 200);
    controller.abort();
    await until(() => ended);
    await response.body?.cancel();
  });

  test("a handler that is closed ends its streams, and stops their agents", async () => {
    let signal: AbortSignal | undefined;
    const handler = createModelHandler(
      new BothAgent(async function* (_messages, context) {
        signal = context.signal;
        yield "so far";
        await new Promise<never>(() => {});
      }),
    );
    const response = await handler(post(completions, chat({ stream: true })));
    const read = response.text();
    handler.close();
    const text = await read;
    assert(!text.includes("[DONE]"), text);
    assertEquals(signal?.aborted, true);
  });

  test("a slow reader holds the agent back", async () => {
    let made = 0;
    const response = await ask(async function* () {
      for (;;) {
        made++;
        yield "x";
      }
    }, { stream: true });
    const reader = response.body!.getReader();
    for (let count = 0; count < 5; count++) await reader.read();
    assert(made < 12, `${made} pieces were made for 5 that were read`);
    await reader.cancel();
  });
});

describe("chat completions: what is wrong", () => {
  const wrong: [string, JsonObject, number, string | null, string][] = [
    ["no model", { model: null }, 400, "model", "invalid_value"],
    ["an unknown model", { model: "gpt-9" }, 404, "model", "model_not_found"],
    ["no messages", { messages: [] }, 400, "messages", "invalid_value"],
    ["messages that are a text", { messages: "hi" }, 400, "messages", "invalid_value"],
    ["an unknown role", { messages: [{ role: "boss", content: "x" }] }, 400, "messages[0].role", "invalid_value"],
    ["no content", { messages: [{ role: "user" }] }, 400, "messages[0].content", "invalid_value"],
    [
      "a part without a type",
      { messages: [{ role: "user", content: [{}] }] },
      400,
      "messages[0].content",
      "invalid_value",
    ],
    [
      "a tool's message that answers no call",
      { messages: [{ role: "tool", content: "x" }] },
      400,
      "messages[0].tool_call_id",
      "invalid_value",
    ],
    ["stream that is no boolean", { stream: "yes" }, 400, "stream", "invalid_value"],
    ["stream options without a stream", { stream_options: {} }, 400, "stream_options", "invalid_value"],
    ["a temperature that is too high", { temperature: 3 }, 400, "temperature", "invalid_value"],
    ["no tokens at all", { max_tokens: 0 }, 400, "max_tokens", "invalid_value"],
    ["two replies", { n: 2 }, 400, "n", "invalid_value"],
  ];
  for (const [name, body, status, param, code] of wrong) {
    test(name, async () => {
      const error = await errorOf(await ask(() => "hello", body));
      assertEquals([error.status, error.type, error.param, error.code], [status, "invalid_request_error", param, code]);
    });
  }

  test("bodies: no JSON, no object, another type, too long, too deep", async () => {
    const handler = createModelHandler(new BothAgent(), { limits: { messageBytes: 300 } });
    const statusOf = async (request: Request) => {
      const { status, code } = await errorOf(await handler(request));
      return [status, code];
    };
    assertEquals(await statusOf(post(completions, "{")), [400, "invalid_json"]);
    assertEquals(await statusOf(post(completions, "[]")), [400, "invalid_json"]);
    assertEquals(await statusOf(post(completions, "[".repeat(200) + "]".repeat(200))), [413, "body_too_long"]);
    assertEquals(await statusOf(post(completions, chat({ filler: "x".repeat(400) }))), [413, "body_too_long"]);
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
    assertEquals(await statusOf(post(completions, chat(), form)), [415, "wrong_content_type"]);
    assertEquals((await handler(post(completions, chat()))).status, 200);
  });

  test("an agent that gives what is no reply, or too much, is a failure without a word of why", async () => {
    const bad: unknown[] = [undefined, 7, { text: "x" }, { content: 1 }, { content: "x", finishReason: "tired" }];
    for (const returned of bad) {
      const error = await errorOf(await ask(() => returned as ModelReturn));
      assertEquals([error.status, error.message], [500, "The agent could not answer"]);
    }
    const numbers = async function* () {
      yield 1 as unknown as string;
    };
    assertEquals((await errorOf(await ask(numbers))).status, 500);
    const long = await ask(() => "x".repeat(2_000), {}, { limits: { messageBytes: 1_000 } });
    assertEquals((await errorOf(long)).status, 500);
  });

  test("an agent that throws anything is a 500 without its words", async () => {
    const upstream = new InvalidParamsError("secret", { rpcCode: -32602, server: "upstream" });
    for (const thrown of [new Error("secret"), "secret", undefined, upstream]) {
      const response = await ask(() => {
        throw thrown;
      });
      const text = await response.text();
      assertEquals(response.status, 500);
      assert(!text.includes("secret") && !text.includes("at "), text);
    }
  });
});

describe("models", () => {
  test("they are listed and looked up", async () => {
    const other = {
      getModelId: () => "org/other",
      respond: () => "x",
      getModelInfo: () => ({ ownedBy: "me", created: 5 }),
    };
    const handler = createModelHandler([new BothAgent(), other], { clock: new VirtualClock(1_000_000) });
    const both = {
      id: "causeway-both",
      object: "model",
      created: 1_000,
      owned_by: "causeway",
      max_input_tokens: 8_192,
      max_output_tokens: 4_096,
    };
    const second = { id: "org/other", object: "model", created: 5, owned_by: "me" };
    assertEquals(await (await handler(get("/v1/models"))).json(), { object: "list", data: [both, second] });
    assertEquals(await (await handler(get("/v1/models/causeway-both"))).json(), both);
    assertEquals(await (await handler(get("/v1/models/org/other"))).json(), second);
    assertEquals(await (await handler(get("/v1/models/org%2Fother"))).json(), second);
    const none = await errorOf(await handler(get("/v1/models/%E0%A4%A")));
    assertEquals([none.status, none.code], [404, "model_not_found"]);
  });

  test("other methods and paths are refused", async () => {
    const handler = createModelHandler(new BothAgent());
    const wrongMethod = await handler(get(completions));
    assertEquals([wrongMethod.status, wrongMethod.headers.get("allow")], [405, "POST"]);
    assertEquals((await handler(post("/v1/models", {}))).status, 405);
    assertEquals((await errorOf(await handler(get("/v2")))).code, "not_found");
  });

  test("models without respond, and two of one id, cannot be served", () => {
    assertThrows(() => createModelHandler({} as BothAgent), TypeError, "respond");
    assertThrows(() => createModelHandler([new BothAgent(), new BothAgent()]), TypeError, "causeway-both");
  });
});
