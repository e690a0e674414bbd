/** The Worker of `workers/run_workflow.ts` in real workerd: an agent's runs as Cloudflare Workflows. */
import { assert, assertEquals } from "@std/assert";
import type { Miniflare, MiniflareOptions } from "miniflare";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createHandler, McpServer } from "../../src/server/mod.ts";
import { workerBuild } from "../../tools/build/worker.ts";
import { packagesInstalled, root } from "../../tools/programs.ts";

const skip = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly question?: { readonly id: string; readonly kind: string };
  readonly end?: { readonly type: string; readonly text: string };
}

/** A workflow, as its operator stops it for a while. */
interface Paused {
  pause(): Promise<void>;
  resume(): Promise<void>;
}

let flare: Miniflare;
const calls: string[] = [];

before(async () => {
  if (skip) return;
  const { build } = await import("esbuild");
  const { Miniflare, Response: FlareResponse } = await import("miniflare");
  const built = await build({
    ...workerBuild,
    entryPoints: [join(root, "workers", "run_workflow.ts")],
    write: false,
    external: ["cloudflare:*"],
  });
  const server = new McpServer({ name: "tools", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  server.tool("fetch_data", { description: "Fetches", input }, ({ text }) => {
    calls.push(`fetch_data ${text}`);
    return { fetched: text };
  });
  server.tool("send", { description: "Sends", input }, ({ text }) => {
    calls.push(`send ${text}`);
    return "sent";
  });
  server.tool("fetch_much", { description: "Fetches much", input }, () => "much ".repeat(600_000));
  const handler = createHandler(server, { allowedHosts: "*" });
  flare = new Miniflare({
    modules: [{ type: "ESModule", path: "workflow.js", contents: built.outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    workflows: { RUNS: { name: "causeway-run", className: "RunWorkflow" } },
    durableObjects: { MARKS: { className: "StoreObject", useSQLite: true } },
    bindings: {
      ACCESS_TOKEN: "a token of the tests",
      MCP_URL: "https://tools.example/mcp",
      READ_ONLY: "tools.fetch_*",
    },
    outboundService: async (request: Request) => {
      const body = request.method === "POST" ? await request.arrayBuffer() : null;
      const sent = { method: request.method, headers: new Headers([...request.headers]), body };
      const reply = await handler(new Request(request.url, sent));
      // One that is kept may be ended by its server just when workerd uses it again.
      const headers: [string, string][] = [...reply.headers, ["connection", "close"]];
      return new FlareResponse(reply.body as never, { status: reply.status, headers });
    },
  } as unknown as MiniflareOptions);
  await flare.ready;
});
after(() => flare?.dispose());

async function ask<Value>(path: string, status: number, body?: object, token = "a token of the tests"): Promise<Value> {
  const text = JSON.stringify(body);
  const response = await flare.dispatchFetch(`http://localhost${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(body && { method: "POST", body: text }),
  });
  const answer = await response.text();
  assertEquals(response.status, status, answer);
  return JSON.parse(answer);
}

async function until(id: string, isThere: (run: Shown) => boolean): Promise<Shown> {
  for (let turns = 0; turns < 800; turns++) {
    const run = await ask<Shown>(`/runs/${id}`, 200);
    if (isThere(run)) return run;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error("The workflow did not come there");
}

describe("a run as a workflow", { concurrency: false }, () => {
  test("fetches data and ends", { skip, timeout: 30_000 }, async () => {
    const { id } = await ask<Shown>("/runs", 202, { input: "call tools.fetch_data text=one" });
    const { status, end } = await until(id, ({ end }) => end !== undefined);
    assertEquals([status, end?.type, calls], ["complete", "succeeded", ["fetch_data one"]]);
    assert(end?.text.includes('"fetched":"one"'), end?.text);
  });

  test("goes on with a result that is larger than what a step can keep", { skip, timeout: 30_000 }, async () => {
    const { id } = await ask<Shown>("/runs", 202, { input: "call tools.fetch_much" });
    const { status, end } = await until(id, ({ end, status }) => end !== undefined || status === "errored");
    assertEquals([status, end?.type], ["complete", "succeeded"]);
    assert(end?.text.includes("much much") && end.text.length < 50_000, end?.text.slice(-300));
  });

  test("waits for a yes, and calls once", { skip, timeout: 30_000 }, async () => {
    calls.length = 0;
    const { id } = await ask<Shown>("/runs", 202, { input: "call tools.send text=two" });
    const { question } = await until(id, ({ question }) => question !== undefined);
    assertEquals([question?.kind, calls], ["approval", []]);
    await ask(`/runs/${id}/input`, 404, { question: "another", answer: { action: "accept" } });
    await ask(`/runs/${id}/input`, 400, { question: question?.id, answer: { action: "retry" } });
    await ask(`/runs/${id}/input`, 200, { question: question?.id, answer: { action: "accept" } });
    const run = await until(id, ({ end }) => end !== undefined);
    assertEquals([run.end?.type, calls, run.question], ["succeeded", ["send two"], undefined]);
  });

  test("asks for two calls side by side, and each question can be answered", { skip, timeout: 30_000 }, async () => {
    calls.length = 0;
    const input = "call tools.send text=three\ncall tools.send text=four";
    const { id } = await ask<Shown>("/runs", 202, { input });
    const answered: (string | undefined)[] = [];
    for (let count = 0; count < 2; count++) {
      const isNew = ({ question }: Shown) => question !== undefined && !answered.includes(question.id);
      const { question } = await until(id, isNew);
      await ask(`/runs/${id}/input`, 200, { question: question?.id, answer: { action: "accept" } });
      answered.push(question?.id);
    }
    const run = await until(id, ({ end }) => end !== undefined);
    assertEquals([run.end?.type, calls.toSorted(), run.question], [
      "succeeded",
      ["send four", "send three"],
      undefined,
    ]);
  });

  test("that is paused while it waits keeps its question", { skip, timeout: 30_000 }, async () => {
    calls.length = 0;
    const { id } = await ask<Shown>("/runs", 202, { input: "call tools.send text=five" });
    const { question } = await until(id, ({ question }) => question !== undefined);
    const { RUNS } = await flare.getBindings<{ RUNS: { get(id: string): Promise<Paused> } }>();
    const run = await RUNS.get(id);
    await run.pause();
    await until(id, ({ status }) => status === "paused");
    await ask(`/runs/${id}/input`, 200, { question: question?.id, answer: { action: "accept" } });
    await run.resume();
    const { end } = await until(id, ({ end }) => end !== undefined);
    assertEquals([end?.type, calls], ["succeeded", ["send five"]]);
  });

  test("is for whoever has the token, and takes no nonsense", { skip }, async () => {
    await ask("/runs", 403, { input: "say hello" }, "another");
    await ask("/runs", 400, { input: 17 });
    await ask("/runs/nobody", 404);
    await ask("/", 404);
  });
});
