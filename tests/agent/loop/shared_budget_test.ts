import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../../src/agent/mod.ts";
import { createRelay } from "../../../src/hub/gateway/mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { call, ScriptedModel } from "./support/scripted.ts";

function createAsker(name: string): McpServer {
  const server = new McpServer({ name, version: "1.0.0" });
  const message = { role: "user" as const, content: { type: "text" as const, text: "Summarize" } };
  server.tool("often", {}, async (_, { sample }) => {
    for (let count = 0; count < 9; count++) {
      await sample({ systemPrompt: `Be brief ${count}`, messages: [message], maxTokens: 50 });
    }
    return "done";
  });
  return server;
}

for (const era of ["modern", "legacy"] as const) {
  test(`what a server has used in a call counts in the calls beside it (${era})`, async () => {
    const names = ["one", "two", "three"];
    const servers = names.map((name) => [name, inMemory(createAsker(name), { eras: [era] }).config]);
    const relay = createRelay();
    const { handlers, features } = relay;
    await using hub = await openHub(Object.fromEntries(servers), { handlers, features });
    const usage = { inputTokens: 20, outputTokens: 10 };
    const calls = names.map((name) => call(`${name}__often`));
    const model = new ScriptedModel(({ messages }) =>
      messages[0]?.role === "system" ? { text: "short", usage } : { calls, usage }
    );
    const run = new Agent({ model, hub, relay, approve: "allow", sampling: "allow", tokens: 200 }).run("Go");
    const end = await run.end;
    assertEquals(end.type === "failed" && end.error.code, "token_budget");
    const used = end.usage.inputTokens + end.usage.outputTokens;
    // What is under way then may go past it: one question of each of the three calls.
    assert(used < 200 + 3 * 30, `${used} tokens of 200`);
  });
}
