import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent, createModelHandler } from "../../../src/agent/mod.ts";
import type { AgentOptions } from "../../../src/agent/mod.ts";
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
      { role: "assistant", content: "", toolCalls: [{ id: "x", name: "look", arguments: "{}" }] },
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
    const again = agentOf((_, count) =>
      count === 1
        ? { text: "half", error: new LanguageModelError("broke", { retryable: true, retryAfter: 0 }) }
        : { text: "whole" }
    );
    assertEquals((await complete(again.agent, {})).status, 502);
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
    for (let turn = 0; turn < 200 && model.stopped === 0; turn++) {
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
