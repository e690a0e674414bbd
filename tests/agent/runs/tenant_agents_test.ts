/** Runs of agents that the runner makes of a tenant's hub: from the request to the end, over a restart. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { Agent, createRuns, directiveModel } from "../../../src/agent/mod.ts";
import type { DurableRuns } from "../../../src/agent/mod.ts";
import { createRelay } from "../../../src/hub/gateway/mod.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../../src/runner/mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { emptyDatabase, skip } from "./support/database.ts";
import { inMemory, openHub } from "../../hub/support.ts";

describe("runs of a tenant's agents, from the request to the end", () => {
  it("ask what a server asks, survive a restart, and stay within the tenant", { skip }, async () => {
    const relay = createRelay();
    const { handlers, features } = relay;
    const greeter = new McpServer({ name: "greeter", version: "1.0.0" });
    greeter.tool("greet", { description: "Asks for a name" }, async (_, { elicit }) => {
      const { content } = await elicit({
        message: "Who are you?",
        requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      });
      return `Hello, ${content?.name}`;
    });
    const database = await emptyDatabase();
    const { key, hash } = await createApiKey();
    const kept = new Map<string, DurableRuns>();
    const runner = createRunner({
      access: {
        keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
        policy: createPolicy([{ effect: "allow" }]),
      },
      hubs: () => openHub({ greeter: inMemory(greeter).config }, { handlers, features }),
      relay: () => relay,
      agents: [{
        name: "clerk",
        create: ({ hub, relay }) => new Agent({ hub, relay, model: directiveModel(), readOnly: ["greeter.*"] }),
      }],
      runs: (tenant) => kept.get(tenant)!,
    });
    const open = async (): Promise<void> => {
      await kept.get("acme")?.close();
      const runs = createRuns({ database, agents: runner.agentsOf("acme") });
      kept.set("acme", runs);
      await runs.resume();
    };
    await open();
    const ask = async (path: string, body?: unknown) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
      return await (await runner.fetch(new Request(`http://localhost${path}`, { headers, ...init }))).json();
    };
    const reach = async (id: string, state: string) => {
      for (;;) {
        const run = await ask(`/api/runs/${id}`);
        if (run.state === state) return run;
        assert(["accepted", "running", "needs_input"].includes(run.state), JSON.stringify(run));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    const { id } = await ask("/api/runs", { agent: "clerk", input: "call greeter.greet" });
    const { questions: [question] } = await reach(id, "needs_input");
    assertEquals([question.kind, question.message], ["elicitation", "Who are you?"]);
    await open();
    await ask(`/api/runs/${id}/input`, {
      question: question.id,
      answer: { action: "accept", content: { name: "Ada" } },
    });
    const { end } = await reach(id, "succeeded");
    assert(end.text.includes("Hello, Ada"), end.text);
    const model = { model: "clerk", messages: [{ role: "user", content: "call greeter.greet" }] };
    const reply = await ask("/v1/chat/completions", model);
    assert(reply.choices?.[0].message.content.includes("Hello"), JSON.stringify(reply));
    await kept.get("acme")?.close();
    await runner.close();
    database.close?.();
  });
});
