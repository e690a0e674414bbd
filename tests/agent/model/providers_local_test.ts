/** Real providers of the AI SDK, in three specifications, and our own model, against one endpoint on loopback. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createOpenAICompatible as createV2 } from "ai-sdk-v2";
import { createOpenAICompatible as createV3 } from "ai-sdk-v3";
import { createOpenAICompatible as createV4 } from "ai-sdk-v4";
import { aiSdkModel, openAiModel } from "../../../src/agent/mod.ts";
import type { LanguageModel, LanguageModelRequest } from "../../../src/agent/mod.ts";
import { collect, delta, events, hello, refused, tool } from "./support.ts";

const key = "sk-0123456789abcdef";
const makers: Readonly<Record<string, (baseUrl: string) => LanguageModel>> = {
  v2: (baseURL) => aiSdkModel(createV2({ name: "local", baseURL, apiKey: key, includeUsage: true })("m")),
  v3: (baseURL) => aiSdkModel(createV3({ name: "local", baseURL, apiKey: key, includeUsage: true })("m")),
  v4: (baseURL) => aiSdkModel(createV4({ name: "local", baseURL, apiKey: key, includeUsage: true })("m")),
  openAiModel: (baseUrl) => openAiModel({ baseUrl, apiKey: key, model: "m" }),
};

interface Asked {
  readonly authorization: string | undefined;
  readonly body: { messages: { role: string; content: unknown; tool_calls?: unknown[]; reasoning_content?: string }[] };
}

/** An endpoint on loopback with one reply. */
async function serve(status: number, reply: string, headers: Record<string, string> = {}): Promise<
  { url: string; asked: Asked[] } & AsyncDisposable
> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => text += chunk).on("end", () => {
      asked.push({ authorization: request.headers.authorization, body: JSON.parse(text) });
      response.writeHead(status, { "content-type": "text/event-stream", connection: "close", ...headers });
      // In the middle of an event.
      response.write(reply.slice(0, reply.length / 2));
      response.end(reply.slice(reply.length / 2));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

for (const [name, make] of Object.entries(makers)) {
  describe(`on loopback: ${name}`, () => {
    test("text, thoughts, two calls and usage; then results and thoughts go back", async () => {
      const calls = ["a", "b"].map((id, index) => ({
        index,
        id,
        type: "function",
        function: { name: "look", arguments: `{"at":"${id}"}` },
      }));
      const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
      const last = { id: "c", choices: [], usage };
      const reply = events(
        delta({ role: "assistant", reasoning_content: "hm" }),
        delta({ content: "Hel" }),
        delta({ content: "lo" }),
        delta({ tool_calls: calls }),
        delta({}, "tool_calls"),
        last,
        "[DONE]",
      );
      await using endpoint = await serve(200, reply);
      const model = make(endpoint.url);
      const request: LanguageModelRequest = { ...hello, tools: [tool("look", { at: { type: "string" } })] };
      const parts = await collect(model.stream(request));
      assertEquals(parts.slice(0, 4), [
        { type: "reasoning", text: "hm" },
        { type: "text", text: "Hello" },
        { type: "tool_call", call: { id: "a", name: "look", arguments: { at: "a" } } },
        { type: "tool_call", call: { id: "b", name: "look", arguments: { at: "b" } } },
      ]);
      const end = parts.at(-1);
      assert(end?.type === "end");
      assertEquals([end.reason, end.usage], ["tool_calls", { inputTokens: 7, outputTokens: 3 }]);
      assertEquals(endpoint.asked[0]?.authorization, `Bearer ${key}`);
      const toolCalls = ["a", "b"].map((id) => ({ id, name: "look", arguments: { at: id } }));
      await collect(model.stream({
        ...request,
        messages: [
          ...hello.messages,
          { role: "assistant", content: "Hello", toolCalls, provider: JSON.parse(JSON.stringify(end.provider)) },
          { role: "tool", id: "a", name: "look", result: { content: [{ type: "text", text: "saw a" }] } },
          { role: "tool", id: "b", name: "look", result: { content: [{ type: "text", text: "no" }], isError: true } },
        ],
      }));
      const messages = endpoint.asked[1]?.body.messages ?? [];
      assertEquals(messages.map(({ role }) => role), ["user", "assistant", "tool", "tool"]);
      assertEquals([messages[1]?.content, messages[1]?.reasoning_content], ["Hello", "hm"]);
      assertEquals(messages[1]?.tool_calls?.length, 2);
      assertEquals(messages.slice(2).map(({ content }) => content), ["saw a", "Tool error: no"]);
    });

    test("a picture in a result is one for the model, and no text", async () => {
      await using endpoint = await serve(200, events(delta({ content: "ok" }, "stop"), "[DONE]"));
      const data = "aGlp".repeat(100);
      await collect(
        make(endpoint.url).stream({
          messages: [
            ...hello.messages,
            { role: "assistant", content: "", toolCalls: [{ id: "a", name: "look", arguments: {} }] },
            {
              role: "tool",
              id: "a",
              name: "look",
              result: { content: [{ type: "image", mimeType: "image/png", data }] },
            },
          ],
        }),
      );
      const messages = endpoint.asked[0]?.body.messages ?? [];
      assertEquals(messages.map(({ role }) => role), ["user", "assistant", "tool", "user"]);
      assert(!JSON.stringify(messages[2]).includes(data));
      assert(JSON.stringify(messages[3]?.content).includes(`"image_url":{"url":"data:image/png;base64,${data}"}`));
    });

    test("a refusal with Retry-After, without the key", async () => {
      const said = JSON.stringify({ error: { message: `slow down, ${key.slice(0, 3)}`, type: "rate_limit_error" } });
      await using endpoint = await serve(429, said, { "content-type": "application/json", "retry-after": "2" });
      const error = await refused(make(endpoint.url), "slow down");
      assertEquals([error.status, error.retryable, error.retryAfter], [429, true, 2_000]);
      assert(!JSON.stringify([error.message, String(error.cause)]).includes(key));
    });
  });
}
