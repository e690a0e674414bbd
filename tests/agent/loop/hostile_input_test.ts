import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import { createRelay } from "../../../src/hub/gateway/mod.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { cutResult } from "../../../src/hub/budget/cut.ts";
import { partsOfBlocks, textOf } from "../../../src/hub/models/parts.ts";
import type { ContentBlock } from "../../../src/protocol/types.ts";
import { openHub } from "../../hub/support.ts";
import { gather } from "./support/scene.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

/** A server that wants this input before it gives anything. */
function asking(inputRequests: JsonObject): (url: unknown, init?: RequestInit) => Promise<Response> {
  const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
  const results: Record<string, JsonObject> = {
    "server/discover": {
      ...complete,
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo: { name: "strange", version: "1" },
    },
    "tools/list": { ...complete, tools: [{ name: "ask", inputSchema: { type: "object" } }] },
    "tools/call": { resultType: "input_required", inputRequests, requestState: "once" },
  };
  return async (_, init) => {
    const { id, method, params } = JSON.parse(await new Response(init?.body).text());
    const result = params?.requestState === "once" ? { resultType: "complete", content: [] } : results[method] ?? {};
    return Response.json({ jsonrpc: "2.0", id, result });
  };
}

const message = { role: "user", content: { type: "text", text: "Hi" } };
const questions: readonly (readonly [string, JsonObject | null, "ok" | "tool_error"])[] = [
  ["elicitation/create", null, "ok"],
  ["elicitation/create", { message: 5, requestedSchema: null }, "ok"],
  ["elicitation/create", { message: "x", requestedSchema: { type: "object", properties: { a: null } } }, "ok"],
  ["elicitation/create", { message: "x", mode: 5 }, "tool_error"],
  ["sampling/createMessage", null, "tool_error"],
  ["sampling/createMessage", { messages: [null], maxTokens: 5 }, "tool_error"],
  ["sampling/createMessage", { messages: [{ role: "user", content: null }], maxTokens: 5 }, "tool_error"],
  ["sampling/createMessage", { messages: [message], maxTokens: 5, tools: [null] }, "tool_error"],
  ["roots/list", null, "ok"],
  ["nothing/known", {}, "tool_error"],
];

/** A server that tells this of its progress, and then gives its result. */
function telling(signs: JsonObject): (url: unknown, init?: RequestInit) => Promise<Response> {
  const answer = asking({});
  return async (url, init) => {
    const text = await new Response(init?.body).text();
    const { id, method, params } = JSON.parse(text);
    if (method !== "tools/call") return await answer(url, { ...init, body: text });
    const { progressToken } = params._meta;
    const sign = { method: "notifications/progress", params: { progressToken, progress: 1, ...signs } };
    const result = { resultType: "complete", content: [{ type: "text", text: "it ran" }] };
    const events = [sign, { id, result }].map((one) => `data: ${JSON.stringify({ jsonrpc: "2.0", ...one })}\n\n`);
    return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
  };
}

describe("results with null where nothing is meant", () => {
  test("are shown to the model as what they are", () => {
    const resource = { uri: "a:b", text: "hi", blob: null, mimeType: null };
    const link = { type: "resource_link", uri: "a:b", name: "n", mimeType: null, size: null };
    const blocks = [{ type: "resource", resource }, link] as unknown as ContentBlock[];
    const long = {
      type: "resource",
      resource: { ...resource, text: "word ".repeat(2_000) },
    } as unknown as ContentBlock;
    const cut = cutResult({ content: [long] }, { limit: 100, unit: "tokens", mediaLimit: 0 });
    assert(cut && cut.media === 0 && cut.total === 10_000 && cut.shown > 0, "its text is cut, and not left out");
    assertEquals(textOf(partsOfBlocks(blocks, new Set())), '[resource a:b]\nhi\n[resource "n": a:b]');
  });
});

describe("signs of progress that make no sense", () => {
  for (const signs of [{ message: null, total: null }, { message: 5, total: "\u001b[31m" }, { message: { a: 1 } }]) {
    test(`are told without what makes none, and their call goes on: ${JSON.stringify(signs)}`, async () => {
      await using hub = await openHub({ data: { url: "http://localhost/mcp", fetch: telling(signs) } });
      const model = new ScriptedModel([{ calls: [call("data__ask", {}, "x")] }, { text: "done" }]);
      const run = new Agent({ model, hub, approve: "allow" }).run("Go");
      const events = await gather(run);
      assertEquals(run.observations.map(({ outcome }) => outcome), ["ok"]);
      assertEquals(events.filter(({ type }) => type === "progress"), [
        { type: "progress", step: 1, id: "x", progress: 1 },
      ]);
    });
  }
});

describe("questions of servers that make no sense", () => {
  for (const [method, params, outcome] of questions) {
    test(`end their call, and not the run: ${method} ${JSON.stringify(params)}`, async () => {
      const relay = createRelay();
      const { handlers, features } = relay;
      const fetch = asking({ one: { method, params } });
      await using hub = await openHub({ data: { url: "http://localhost/mcp", fetch } }, { handlers, features });
      const model = new ScriptedModel(({ messages }) =>
        messages.at(-1)?.role === "tool" ? { text: "done" } : { calls: [call("data__ask")] }
      );
      const agent = new Agent({ model, hub, relay, approve: "allow", sampling: "allow" });
      const run = agent.run("Go", { questions: () => ({ action: "accept", content: {} }) });
      assertEquals((await run.end).type, "succeeded");
      const [observation] = run.observations;
      assertEquals(observation?.outcome, outcome);
      assert(!/null|undefined|destructur/.test(JSON.stringify(observation?.result)), "the runtime's own words");
    });
  }
});
