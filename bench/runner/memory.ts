/** The runner and an agent in memory, in a process of their own: prints one line of JSON. */
import process from "node:process";
import { Agent } from "../../src/agent/mod.ts";
import type { LanguageModel } from "../../src/agent/mod.ts";
import { Hub } from "../../src/hub/hub.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../src/runner/mod.ts";
import { settledHeap } from "../cells/measure.ts";
import type { Figures } from "../task.ts";

const [requests, warm, loopSteps] = [20_000, 4_000, 1_000];

/** Bytes that a request leaves behind; microseconds of one step of an agent's loop: a question, a call, an observation. */
export async function measureMemory(): Promise<void> {
  const figures: Figures = { slope: await slope(), step: await step() };
  console.log(JSON.stringify(figures));
  process.exit(0);
}

async function slope(): Promise<number> {
  const { key, hash } = await createApiKey();
  const rule = { effect: "allow" } as const;
  await using runner = createRunner({
    hub: new Hub(() => Promise.reject(new TypeError("Nothing is connected here"))),
    access: { keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]), policy: createPolicy([rule]) },
    quotas: { requestsPerMinute: 1e9 },
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const ask = async (at: number): Promise<void> => {
    // Half of them are refused: who is gone by mistake leaves nothing either.
    const init = at % 2 === 0 ? { headers } : { headers, method: "POST", body: JSON.stringify({ at }) };
    const path = at % 2 === 0 ? "/api/tools" : "/api/tools/nothing";
    await (await runner.fetch(new Request(`http://localhost${path}`, init))).text();
  };
  for (let at = 0; at < warm; at++) await ask(at);
  const before = await settledHeap();
  for (let at = 0; at < requests; at++) await ask(at);
  return (await settledHeap() - before) / requests;
}

async function step(): Promise<number> {
  const agent = new Agent({
    model: counting(loopSteps),
    steps: loopSteps + 1,
    contextTokens: 4_000,
    tools: [{ name: "noop", description: "Does nothing", readOnly: true, run: () => "ok" }],
  });
  await agent.run("go").result;
  const began = performance.now();
  await agent.run("go").result;
  return (performance.now() - began) * 1_000 / loopSteps;
}

/** A model that costs nothing: it calls a tool each time, and then is done. */
function counting(calls: number): LanguageModel {
  let count = 0;
  return {
    id: "counting",
    async *stream() {
      const at = count++ % (calls + 1);
      if (at < calls) yield { type: "tool_call", call: { id: `call-${at}`, name: "noop", arguments: { at } } };
      else yield { type: "text", text: "done" };
      yield { type: "end", reason: at < calls ? "tool_calls" : "stop" };
    },
  };
}
