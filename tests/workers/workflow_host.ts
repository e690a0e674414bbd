/**
 * A real local Workflow in Miniflare, to be killed: `workflow_host <folder> <ledger>`. What it keeps lies in the folder. It writes
 * the address under which `/create`, `/answer` and `/status` are asked for an instance.
 */
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { join } from "node:path";
import process from "node:process";

/** An agent in a workflow; its marks lie in an object. */
const program = `
import { WorkflowEntrypoint } from "cloudflare:workers";
import { createStoreMarker, workflowSteps } from "./src/agent/mod.ts";
import { createStubStore, StoreObject } from "./src/entry/workers.ts";
import { createScriptedAgent } from "./tests/agent/runs/support/scripted_agent.ts";
export { StoreObject };
export class AgentWorkflow extends WorkflowEntrypoint {
  async run({ instanceId }, step) {
    const store = createStubStore(this.env.STORES.get(this.env.STORES.idFromName("marks")));
    const steps = workflowSteps(step, createStoreMarker(store, instanceId));
    const call = async (key) => {
      const response = await fetch(this.env.LEDGER + "/" + key, { method: "POST" });
      return await response.text();
    };
    const agent = createScriptedAgent({ rounds: 4, askAfter: 3, call });
    const ask = async () => (await steps.waitForEvent("question", { type: "answer" })).payload;
    const signal = new AbortController().signal;
    const { text } = await agent.execute({ input: "go" }, { id: instanceId, steps, signal, emit() {}, ask });
    return text;
  }
}
export default {
  async fetch(request, { RUNS }) {
    const { pathname, searchParams } = new URL(request.url);
    const id = searchParams.get("id");
    if (pathname === "/create") return Response.json({ id: (await RUNS.create({ id })).id });
    const instance = await RUNS.get(id);
    if (pathname === "/answer") await instance.sendEvent({ type: "answer", payload: { action: "accept" } });
    return Response.json(await instance.status());
  },
};`;

const [folder = "", ledger = ""] = process.argv.slice(2);
const built = await build({
  stdin: { contents: program, resolveDir: process.cwd() },
  bundle: true,
  format: "esm",
  write: false,
  external: ["cloudflare:workers"],
  alias: { "@std/assert": join(process.cwd(), "tests", "support", "assert.ts") },
});
const flare = new Miniflare({
  name: "workflows",
  cf: false,
  modules: [{ type: "ESModule", path: "worker.js", contents: built.outputFiles[0]?.text ?? "" }],
  compatibilityDate: "2026-04-01",
  bindings: { LEDGER: ledger },
  durableObjects: { STORES: { className: "StoreObject", useSQLite: true } },
  durableObjectsPersist: join(folder, "objects"),
  workflows: { RUNS: { name: "runs", className: "AgentWorkflow" } },
  workflowsPersist: join(folder, "workflows"),
});
console.log(`ready ${String(await flare.ready)}`);
