/** Clients that others wrote, at the runner over real sockets: the `openai` package at `/v1`, the official MCP client at `/mcp`. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, test } from "node:test";
import OpenAI from "openai";
import { createMemoryStore } from "../../src/auth/stores/memory.ts";
import { startLocalRunner } from "../../src/entry/runner/local_runner.ts";
import type { LocalRunner } from "../../src/entry/runner/local_runner.ts";
import { systemClock } from "../../src/ports.ts";
import { createServer, inMemory } from "../hub/support.ts";
import { loadSdk, skipSdk } from "../interop/server/official.ts";
import type { SdkClient, SdkLibrary } from "../interop/server/official.ts";
import { until } from "../support/clients.ts";
import { MemoryRuns } from "./support/memory_runs.ts";

let local: LocalRunner;
let runs: MemoryRuns;

before(async () => {
  runs = new MemoryRuns(systemClock);
  local = await startLocalRunner({
    port: 0,
    servers: { alpha: inMemory(createServer("alpha")).config },
    agents: [{ name: "helper", description: "Says it again" }],
    runs: () => runs,
    store: createMemoryStore(),
  });
  await until(() => local.hub.tools().length === 2);
});
after(() => local.close());

describe("the openai package at /v1", () => {
  const open = (apiKey = local.apiKey) => new OpenAI({ baseURL: `${local.url}/v1`, apiKey, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "hello" }];

  test("lists agents as models", async () => {
    const found: string[] = [];
    for await (const { id } of await open().models.list()) found.push(id);
    assertEquals(found, ["helper"]);
    assertEquals((await open().models.retrieve("helper")).object, "model");
  });

  test("asks one, whole and as a stream", async () => {
    const whole = await open().chat.completions.create({ model: "helper", messages });
    assertEquals(whole.choices[0]?.message.content, "You said: hello");
    assertEquals(whole.usage?.total_tokens, 10);
    const stream = await open().chat.completions.create({
      model: "helper",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let total: number | undefined;
    for await (const { choices: [choice], usage } of stream) {
      text += choice?.delta.content ?? "";
      total = usage?.total_tokens ?? total;
    }
    assertEquals([text, total], ["You said: hello", 10]);
  });

  test("asks no second time for a run that failed", async () => {
    const count = async (): Promise<number> => (await runs.list()).length;
    const before = await count();
    const client = new OpenAI({ baseURL: `${local.url}/v1`, apiKey: local.apiKey });
    const asked = client.chat.completions.create({ model: "helper", messages: [{ role: "user", content: "fail" }] });
    await assertRejects(() => Promise.resolve(asked), OpenAI.InternalServerError);
    assertEquals(await count() - before, 1);
  });

  test("gets its own errors", async () => {
    const nobody = open().chat.completions.create({ model: "nobody", messages });
    const missing = await assertRejects(() => Promise.resolve(nobody), OpenAI.NotFoundError) as InstanceType<
      typeof OpenAI.NotFoundError
    >;
    assertEquals([missing.code, missing.status], ["model_not_found", 404]);
    assert(missing.message.includes("does not exist"), missing.message);
    const wrong = open(`causeway_${"0".repeat(64)}`).models.list();
    const refused = await assertRejects(() => Promise.resolve(wrong), OpenAI.AuthenticationError) as Error;
    assert(refused.message.includes("not known"), refused.message);
  });
});

for (const [mode, era] of [["auto", "modern"], ["legacy", "legacy"]] as const) {
  describe(`the official client at /mcp, ${era}`, () => {
    let client: SdkClient;

    before(async () => {
      if (skipSdk) return;
      const { Client, StreamableHTTPClientTransport } = await loadSdk();
      const Transport = StreamableHTTPClientTransport as unknown as new (
        url: URL,
        options: object,
      ) => InstanceType<SdkLibrary["StreamableHTTPClientTransport"]>;
      client = new Client({ name: "official", version: "2.4.0" }, { versionNegotiation: { mode } });
      const headers = { authorization: `Bearer ${local.apiKey}` };
      await client.connect(new Transport(new URL(`${local.url}/mcp`), { requestInit: { headers } }));
    });
    after(() => client?.close());

    test("speaks its era", { skip: skipSdk }, () => assertEquals(client.getProtocolEra(), era));

    test("lists, calls, reads and fills in", { skip: skipSdk }, async () => {
      const { tools } = await client.listTools();
      assertEquals(tools.map(({ name }) => name), ["alpha__echo", "alpha__fail"]);
      const called = await client.callTool({ name: "alpha__echo", arguments: { text: "hi" } });
      assertEquals(called.content[0]?.text, "alpha: hi");
      assertEquals((await client.callTool({ name: "alpha__fail", arguments: {} })).isError, true);
      const [resource] = (await client.listResources()).resources;
      assertEquals((await client.readResource({ uri: resource?.uri ?? "" })).contents[0]?.text, "the note of alpha");
      const prompt = await client.getPrompt({ name: "alpha__greet", arguments: { who: "you" } });
      assertEquals(prompt.messages.length, 1);
    });
  });
}
