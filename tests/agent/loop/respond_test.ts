import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  Agent,
  aiSdkModel,
  createAgentHandler,
  createModelHandler,
  openAiModel,
  workersAiModel,
} from "../../../src/agent/mod.ts";
import type { AgentOptions, AnswerSettings } from "../../../src/agent/mod.ts";
import { LanguageModelError } from "../../../src/agent/model/seam.ts";
import { telemetry } from "../../../mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { openScene } from "./support/scene.ts";
import { call, type Script, ScriptedModel } from "./support/scripted.ts";

async function complete(agent: Agent, body: JsonObject): Promise<Response> {
  const handler = createModelHandler(agent);
  return await handler(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: agent.getModelId(), messages: [{ role: "user", content: "Go" }], ...body }),
    }),
  );
}

function agentOf(script: Script, options: Partial<AgentOptions> = {}): { agent: Agent; model: ScriptedModel } {
  const model = new ScriptedModel(script);
  return { model, agent: new Agent({ model, name: "helper", ...options }) };
}

function streamOf(parts: readonly object[]): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

function toMcpAgent() {
  return { getMcpToolDefinitions: () => [], executeMcpTool: () => "" };
}

describe("an agent that is served as a model", () => {
  test("answers a whole conversation, with what it used", async () => {
    const { agent, model } = agentOf([{ text: ["Hel", "lo"] }], { instructions: "Greet" });
    const response = await complete(agent, {
      messages: [
        { role: "system", content: "Be kind" },
        {
          role: "user",
          content: [{ type: "text", text: "Hi" }, {
            type: "image_url",
            image_url: { url: "data:image/png;base64,aGk=" },
          }],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "x", type: "function", function: { name: "look", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "x", content: "seen" },
        { role: "user", content: "And now?" },
      ],
    });
    const { choices: [choice], usage } = await response.json();
    assertEquals([choice.message.content, choice.finish_reason], ["Hello", "stop"]);
    assertEquals(usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    assertEquals(model.asked[0]?.messages, [
      { role: "system", content: "Greet" },
      { role: "system", content: "Be kind" },
      { role: "user", content: [{ type: "text", text: "Hi" }, { type: "image", mimeType: "image/png", data: "aGk=" }] },
      { role: "assistant", content: "", toolCalls: [{ id: "x", name: "look", arguments: {} }] },
      { role: "tool", id: "x", name: "look", result: { content: [{ type: "text", text: "seen" }] } },
      { role: "user", content: "And now?" },
    ]);
  });

  test("streams the texts as they come, those of different steps apart", async () => {
    await using scene = await openScene();
    const script = [{ text: "I look.", calls: [call("data__fetch_data", { city: "Ulm" })] }, { text: ["It", " is"] }];
    const { agent } = agentOf(script, { hub: scene.hub, readOnly: ["data"] });
    const response = await complete(agent, { stream: true, stream_options: { include_usage: true } });
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const chunks = lines.map((line) => JSON.parse(line.slice(6)));
    const deltas = chunks.flatMap(({ choices: [choice] }) => choice?.delta.content ? [choice.delta.content] : []);
    assertEquals(deltas, ["I look.", "\n\n", "It", " is"]);
    assertEquals(chunks.at(-1).usage.total_tokens, 30);
    assertEquals(scene.ledger.length, 1);
  });

  test("calls that need a yes are denied: nobody can be asked there, unless the operator's policy gives it", async () => {
    for (const [approve, expected] of [["ask", 0], ["allow", 1]] as const) {
      await using scene = await openScene();
      const script = [{ calls: [call("data__write", { text: "A" })] }, { text: "done" }];
      const { agent, model } = agentOf(script, { hub: scene.hub, approve });
      assertEquals((await complete(agent, {})).status, 200);
      assertEquals(scene.ledger.length, expected);
      assertEquals(JSON.stringify(model.asked[1]).includes("was denied"), approve === "ask");
    }
  });

  test("says what failed by its status; budgets end as a length", async () => {
    const failing = agentOf([{ error: new LanguageModelError("no key", { status: 401 }) }]);
    const response = await complete(failing.agent, {});
    assertEquals([response.status, (await response.json()).error.code], [502, "model_error"]);
    const endless = agentOf((_, count) => ({ text: `${count} `, calls: [call("nothing", {}, `${count}`)] }), {
      steps: 2,
    });
    const { choices: [choice] } = await (await complete(endless.agent, {})).json();
    assertEquals([choice.finish_reason, choice.message.content], ["length", "1 \n\n2 "]);
  });

  test("a text that its model begins anew takes the place of the other, unless that was streamed already", async () => {
    const again = () =>
      agentOf((_, count) => {
        if (count === 1) return { text: "I look.", calls: [call("nothing", {})] };
        if (count > 2) return { text: ["who", "le"] };
        return { text: "half", error: new LanguageModelError("broke", { retryable: true, retryAfter: 0 }) };
      }).agent;
    const response = await complete(again(), {});
    const { choices: [choice], usage } = await response.json();
    assertEquals([response.status, choice.message.content], [200, "I look.\n\nwhole"]);
    assert(usage.completion_tokens > 0);
    const stream = await (await complete(again(), { stream: true })).text();
    assert(stream.includes("half") && !stream.includes("who") && stream.includes("broke off in the middle"));
  });

  test("heeds how its caller wants to be answered, within its own bounds", async () => {
    const asked = async (body: JsonObject, options: Partial<AgentOptions> = {}) => {
      const { agent, model } = agentOf([{ text: "done" }], options);
      assertEquals((await complete(agent, body)).status, 200, JSON.stringify(body));
      const { temperature, maxOutputTokens, stopSequences } = model.asked[0] ?? {};
      return [temperature, maxOutputTokens, stopSequences];
    };
    const own = { temperature: 1, maxOutputTokens: 100 };
    assertEquals(await asked({}), [undefined, undefined, undefined]);
    assertEquals(await asked({}, own), [1, 100, undefined]);
    assertEquals(await asked({ temperature: 0, max_tokens: 50, stop: "END" }), [0, 50, ["END"]]);
    assertEquals(await asked({ temperature: 0.5, max_completion_tokens: 50, stop: ["a", "b"] }, own), [0.5, 50, [
      "a",
      "b",
    ]]);
    assertEquals(await asked({ max_tokens: 1_000 }, own), [1, 100, undefined], "no more than the agent may");
    assertEquals(await asked({ max_tokens: 70, max_completion_tokens: 60 }), [undefined, 60, undefined]);
    assertEquals(await asked({ temperature: null, max_tokens: null, stop: null }, own), [1, 100, undefined]);
  });

  test("writes no more than its caller wants in all steps together, and says that it is cut", async () => {
    const script: Script = (_, count) =>
      count < 4
        ? { text: `${count}`, calls: [call("nothing", {}, `${count}`)], usage: { inputTokens: 500, outputTokens: 20 } }
        : { text: "never", usage: { inputTokens: 500, outputTokens: 20 } };
    const { agent, model } = agentOf(script);
    const { choices: [choice], usage } = await (await complete(agent, { max_tokens: 50 })).json();
    assertEquals([choice.finish_reason, choice.message.content], ["length", "1\n\n2\n\n3"]);
    assertEquals(model.asked.map(({ maxOutputTokens }) => maxOutputTokens), [50, 30, 10]);
    assertEquals(usage.completion_tokens, 60);
    const cut = agentOf([{ text: "half", reason: "length" }]);
    const whole = await (await complete(cut.agent, { max_tokens: 5 })).json();
    assertEquals([whole.choices[0].finish_reason, whole.choices[0].message.content], ["length", "half"]);
  });

  test("takes what changes nothing, and refuses what it cannot heed", async () => {
    const neutral: JsonObject = {
      ...{ top_p: 1, presence_penalty: 0, frequency_penalty: 0, logit_bias: {}, logprobs: false, top_logprobs: null },
      ...{ response_format: { type: "text" }, modalities: ["text"], n: 1, tools: [], tool_choice: "auto" },
      ...{ seed: 7, user: "ada", reasoning_effort: "low", metadata: {}, parallel_tool_calls: true },
    };
    assertEquals((await complete(agentOf([{ text: "done" }]).agent, neutral)).status, 200);
    const { agent, model } = agentOf([]);
    const refusals: [JsonObject, string][] = [
      [{ top_p: 0.5 }, "unsupported_parameter"],
      [{ presence_penalty: 1 }, "unsupported_parameter"],
      [{ frequency_penalty: -1 }, "unsupported_parameter"],
      [{ logit_bias: { 5: 1 } }, "unsupported_parameter"],
      [{ logprobs: true }, "unsupported_parameter"],
      [{ top_logprobs: 3 }, "unsupported_parameter"],
      [{ response_format: { type: "xml" } }, "invalid_value"],
      [{ response_format: "json" }, "invalid_value"],
      [{ modalities: ["text", "audio"] }, "unsupported_parameter"],
      [{ audio: { voice: "alloy" } }, "unsupported_parameter"],
      [{ tool_choice: "required" }, "invalid_value"],
      [{ functions: [{ name: "a" }] }, "invalid_value"],
      [{ function_call: { name: "a" } }, "invalid_value"],
      [{ stop: "" }, "invalid_value"],
      [{ stop: ["a", "b", "c", "d", "e"] }, "invalid_value"],
      [{ stop: [1] }, "invalid_value"],
      [{ temperature: 3 }, "invalid_value"],
      [{ max_tokens: 0 }, "invalid_value"],
    ];
    for (const [body, code] of refusals) {
      const response = await complete(agent, body);
      const { error } = await response.json();
      const [param] = Object.keys(body);
      assertEquals([response.status, error.param, error.code], [400, param, code], JSON.stringify(body));
      assert(error.message.startsWith(`Invalid "${param}": `), error.message);
    }
    // By plain HTTP too, where nobody looked at the numbers before.
    const served = createAgentHandler(Object.assign(toMcpAgent(), { respond: agent.respond.bind(agent) }));
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ query: "Go", temperature: 9 });
    const response = await served(new Request("http://localhost/chat", { method: "POST", headers, body }));
    assertEquals([response.status, (await response.json()).error.param], [400, "temperature"]);
    assertEquals(model.asked.length, 0);
  });

  test("answers in the JSON that its caller wants, and with nothing beside it", async () => {
    const schema = { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] };
    const named = { response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true } } };
    const script: Script = [
      { text: "I look it up", calls: [call("nothing", {}, "1")] },
      { text: '{"sum": "three"}' },
      { text: '```json\n{ "sum": 3 }\n```' },
    ];
    for (const stream of [false, true]) {
      const { agent, model } = agentOf(script);
      const response = await complete(agent, { ...named, stream });
      const replies = stream
        ? [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data ?? ""))
        : [await response.json()];
      const choices = replies.map(({ choices: [choice] }) => choice);
      assertEquals(choices.map((choice) => (choice.delta ?? choice.message).content ?? "").join(""), '{"sum":3}');
      assertEquals(choices.at(-1).finish_reason, "stop");
      assertEquals(model.asked.map(({ output }) => output?.schema), [schema, schema, schema]);
    }
    // A pattern that cannot be checked in linear time is the model's alone.
    const properties = { name: { type: "string", pattern: "^(a)\\1$" } };
    const format = { type: "json_schema", json_schema: { name: "a", schema: { type: "object", properties } } };
    const unchecked = await (await complete(agentOf([{ text: '{"name":"b"}' }]).agent, { response_format: format }))
      .json();
    assertEquals(unchecked.choices[0].message.content, '{"name":"b"}');
    const any = agentOf([{ text: "[]" }, { text: '{"a":1}' }]);
    const whole = await (await complete(any.agent, { response_format: { type: "json_object" } })).json();
    assertEquals(whole.choices[0].message.content, '{"a":1}');
  });

  test("says so when no answer fits, and asks nothing for a schema that cannot be used", async () => {
    const { agent } = agentOf(() => ({ text: "no" }));
    const failed = await complete(agent, { response_format: { type: "json_object" } });
    assertEquals([failed.status, (await failed.json()).error.code], [502, "output_invalid"]);
    const { agent: other, model } = agentOf([]);
    const schemas = [undefined, "x", { type: "nonsense" }, { $ref: "https://example.com/schema" }];
    for (const schema of schemas) {
      const json_schema = { name: "a", ...(schema !== undefined && { schema }) };
      const response = await complete(other, { response_format: { type: "json_schema", json_schema } });
      const { error } = await response.json();
      const expected = [400, "response_format.json_schema.schema", "invalid_value"];
      assertEquals([response.status, error.param, error.code], expected, JSON.stringify(schema));
    }
    assertEquals(model.asked.length, 0);
  });

  test("tells what its caller wants to models of all three kinds", async () => {
    const body = { temperature: 0.5, max_tokens: 40, stop: "END" };
    const sent: JsonObject[] = [];
    const reply = { choices: [{ message: { role: "assistant", content: "done" }, finish_reason: "stop" }] };
    const fetch = (_: string, init: RequestInit) => {
      sent.push(JSON.parse(String(init.body)));
      return Promise.resolve(Response.json(reply));
    };
    const endpoint = { baseUrl: "http://localhost/v1", model: "m", stream: false };
    const asText = async (url: string, init: RequestInit) =>
      await fetch(url, { body: await new Response(init.body).text() });
    const run = (_: string, inputs: object) => {
      sent.push(inputs as JsonObject);
      return Promise.resolve({ response: "done" });
    };
    const parts = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "done" },
      { type: "text-end", id: "1" },
      { type: "finish", finishReason: "stop", usage: { inputTokens: 1, outputTokens: 1 } },
    ];
    const doStream = (options: object) => {
      sent.push(options as JsonObject);
      return Promise.resolve({ stream: streamOf(parts) });
    };
    const models = [
      openAiModel({ ...endpoint, fetch: asText }),
      openAiModel({ ...endpoint, fetch: asText, maxTokensField: "max_completion_tokens" }),
      workersAiModel({ run }, "@cf/m", { stream: false }),
      aiSdkModel({ specificationVersion: "v2", provider: "p", modelId: "m", doStream }),
    ];
    for (const model of models) {
      const { choices: [choice] } = await (await complete(new Agent({ model }), body)).json();
      assertEquals(choice.message.content, "done");
    }
    const fields = ["temperature", "max_tokens", "max_completion_tokens", "maxOutputTokens", "stop", "stopSequences"];
    const told = sent.map((one) =>
      Object.fromEntries(fields.flatMap((name) => name in one ? [[name, one[name]]] : []))
    );
    assertEquals(told, [
      { temperature: 0.5, max_tokens: 40, stop: ["END"] },
      { temperature: 0.5, max_completion_tokens: 40, stop: ["END"] },
      { temperature: 0.5, max_tokens: 40, stop: ["END"] },
      { temperature: 0.5, maxOutputTokens: 40, stopSequences: ["END"] },
    ]);
  });

  test("refuses tools of the caller and parts that it cannot read", async () => {
    const { agent, model } = agentOf([]);
    const cases: [JsonObject, string][] = [
      [{ tools: [{ type: "function", function: { name: "a" } }] }, "tools"],
      [
        { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a/b.png" } }] }] },
        "messages[0].content[0]",
      ],
      [{ messages: [{ role: "assistant", content: "a", tool_calls: [{ id: 1 }] }] }, "messages[0].tool_calls[0]"],
    ];
    for (const [body, param] of cases) {
      const response = await complete(agent, body);
      assertEquals([response.status, (await response.json()).error.param], [400, param]);
    }
    assertEquals(model.asked.length, 0);
  });

  test("is cancelled when its caller leaves", async () => {
    const { agent, model } = agentOf([{ text: "a", hangs: true }]);
    const response = await complete(agent, { stream: true });
    const reader = response.body?.getReader();
    await reader?.read();
    while (model.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await reader?.cancel();
    for (let turn = 0; turn < 5_000 && model.stopped === 0; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assertEquals(model.stopped, 1);
  });

  test("is called by its name, else by its class, and tells how much it reads", () => {
    const model = new ScriptedModel([], 99);
    class CodeAgent extends Agent {}
    assertEquals(new Agent({ model }).getModelId(), "causeway-agent");
    assertEquals(new CodeAgent({ model, maxOutputTokens: 5 }).getModelId(), "causeway-code");
    assertEquals(new CodeAgent({ model, maxOutputTokens: 5 }).getModelInfo(), {
      maxInputTokens: 99,
      maxOutputTokens: 5,
    });
    assertEquals(new Agent({ model, name: "a", info: { description: "b" } }).getModelInfo(), { description: "b" });
  });
});

describe("the settings of a run", () => {
  test("hold for it alone, and are looked at before it begins", async () => {
    const { agent, model } = agentOf([{ text: "a" }, { text: "b" }], { temperature: 1 });
    await agent.run("Go", { settings: { temperature: 0, maxOutputTokens: 9, stopSequences: ["x"] } }).result;
    await agent.run("Go", { settings: {} }).result;
    const told = model.asked.map((
      { temperature, maxOutputTokens, stopSequences },
    ) => [temperature, maxOutputTokens, stopSequences]);
    assertEquals(told, [[0, 9, ["x"]], [1, undefined, undefined]]);
    const wrong: [object, string][] = [
      [{ temperature: 3 }, '"settings.temperature" is 3, expected a number from 0 to 2'],
      [{ temperature: "1" }, '"settings.temperature" is "1", expected a number from 0 to 2'],
      [{ maxOutputTokens: 0.5 }, '"settings.maxOutputTokens" is 0.5, expected a whole number, 1 or more'],
      [{ stopSequences: [""] }, '"settings.stopSequences" is [""], expected texts'],
    ];
    for (const [settings, message] of wrong) {
      assertThrows(() => agent.run("Go", { settings: settings as AnswerSettings }), TypeError, message);
    }
    assertThrows(() => agent.run("Go", { settings: 1 as AnswerSettings }), TypeError, "expected an object");
  });
});

describe("the trace of a run", () => {
  test("reaches its tool calls, a span for each, also through a middleware that makes spans of its own", async () => {
    const metas: JsonObject[] = [];
    const server = new McpServer({ name: "one", version: "1.0.0" });
    server.tool("note", {}, (_, { meta }) => void metas.push(meta));
    const seen: (string | undefined)[] = [];
    const watch = telemetry({
      onEvent: ({ type, method, trace }) => {
        if (type === "response" && method === "tools/call") seen.push(trace.parentSpanId);
      },
    });
    await using hub = await openHub({ one: inMemory(server).config }, { middleware: [watch] });
    const calls = [call("one__note", {}, "a"), call("one__note", {}, "b")];
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const model = new ScriptedModel([{ calls }, { text: "done" }]);
    const trace = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, baggage: "user=ada" };
    await new Agent({ model, hub, approve: "allow" }).run("Go", { trace }).result;
    const parents = metas.map(({ traceparent }) => String(traceparent).split("-"));
    assertEquals(parents.map(([, id]) => id), [traceId, traceId]);
    assertEquals(new Set(parents.map(([, , span]) => span)).size, 2);
    assertEquals(metas.map(({ baggage }) => baggage), ["user=ada", "user=ada"]);
    assertEquals(new Set(seen).size, 2);
    assert(seen.every((span) => span !== undefined && span !== "b7ad6b7169203331"), String(seen));
  });
});
