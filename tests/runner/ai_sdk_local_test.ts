/** The AI SDK itself, with a model of one of its providers and our tools: a hub over the runner's gateway, and over a hub alone. */
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, test } from "node:test";
import { createOpenAICompatible } from "ai-sdk-v4";
import { openHub } from "../../src/entry/local.ts";
import { startLocalRunner } from "../../src/entry/runner/local_runner.ts";
import type { LocalRunner } from "../../src/entry/runner/local_runner.ts";
import { toAiSdkTools } from "../../src/hub/mod.ts";
import { createServer, inMemory } from "../hub/support.ts";
import { until } from "../support/clients.ts";

/** The part of the SDK that is used: its own types are more than a type checker reads in a minute. */
interface AiSdk {
  generateText(options: object): Promise<{ readonly text: string; readonly steps: readonly unknown[] }>;
  streamText(options: object): { readonly textStream: AsyncIterable<string> };
  stepCountIs(count: number): unknown;
}

const packageName: string = "ai";

let sdk: AiSdk;
let local: LocalRunner;
before(async () => {
  sdk = await import(packageName);
  local = await startLocalRunner({ port: 0, servers: { alpha: inMemory(createServer("alpha")).config } });
  await until(() => local.hub.tools().length === 2);
});
after(() => local.close());

interface Asked {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: object } }[];
}

/** A provider of the SDK whose endpoint is played: it calls the tool that says it again, and then tells what it gave. */
function createPlayed() {
  const asked: Asked[] = [];
  const provider = createOpenAICompatible({
    name: "played",
    baseURL: "https://played.invalid/v1",
    fetch: ((_url: unknown, init: { body: string }) => {
      const body: Asked = JSON.parse(init.body);
      asked.push(body);
      const last = body.messages.at(-1);
      const name = body.tools?.find(({ function: { name } }) => name.endsWith("__echo"))?.function.name ?? "";
      const call = { id: "c1", type: "function", function: { name, arguments: '{"text":"hi"}' } };
      const isDone = last?.role === "tool";
      const message = isDone
        ? { role: "assistant", content: `It said ${JSON.stringify(last.content)}` }
        : { role: "assistant", content: null, tool_calls: [call] };
      const finish_reason = isDone ? "stop" : "tool_calls";
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      if (!body.stream) {
        return Promise.resolve(Response.json({ choices: [{ index: 0, message, finish_reason }], usage }));
      }
      const delta = isDone ? message : { ...message, tool_calls: [{ index: 0, ...call }] };
      const chunks = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, delta: {}, finish_reason }], usage }];
      const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("") + "data: [DONE]\n\n";
      return Promise.resolve(new Response(text, { headers: { "content-type": "text/event-stream" } }));
    }) as unknown as typeof fetch,
  });
  return { asked, model: provider("played") };
}

describe("the AI SDK with our tools", () => {
  test("generates a text with tools of the runner's gateway", async () => {
    const headers = { authorization: `Bearer ${local.apiKey}` };
    await using hub = await openHub({ gate: { url: `${local.url}/mcp`, headers } });
    const { model, asked } = createPlayed();
    const tools = toAiSdkTools(hub);
    const { text, steps } = await sdk.generateText({ model, tools, prompt: "Say hi", stopWhen: sdk.stepCountIs(3) });
    assertEquals(steps.length, 2);
    assert(text.includes("alpha: hi"), text);
    const names = asked[0]?.tools?.map(({ function: { name } }) => name);
    assertEquals(names, ["gate__alpha__echo", "gate__alpha__fail"]);
  });

  test("streams a text with tools of a hub", async () => {
    await using hub = await openHub({ beta: inMemory(createServer("beta")).config });
    const { model } = createPlayed();
    const tools = toAiSdkTools(hub);
    const result = sdk.streamText({ model, tools, prompt: "Say hi", stopWhen: sdk.stepCountIs(3) });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    assert(text.includes("beta: hi"), text);
  });
});
