/** The bench of the runner: in a Durable Object of its tenant under workerd, beside a bare Hono proxy that does the same fetch. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { runProcess } from "../../tools/process.ts";
import { build, forWorkers, gzipped } from "../build.ts";
import { startWorker } from "../cells/isolate.ts";
import { median } from "../results.ts";
import { crowd as isolates } from "../serving/run.ts";
import type { Figures } from "../task.ts";
import { type Asked, load, type RunnerLoad } from "./load.ts";
import { chat, mcpCall, toolCall } from "./requests.ts";
import { measureRunsApi, type RunFigures } from "./runs.ts";
import { type BenchWorker, type Served, startBenchWorker, startUpstream } from "./workerd.ts";

/** What the bench works with. */
export interface RunnerBenchOptions {
  /** The program of Bun. */
  readonly bun: string;
  /** The program of workerd. */
  readonly workerd: string;
  /** Where bundles and objects are kept. */
  readonly folder: string;
  /** Fewer and shorter rounds. */
  readonly quick: boolean;
  /** Keeps the parts whose name has one of these in it: `load`, `runs`, `isolate`, `memory`. Default: all. */
  readonly only: readonly string[];
}

/** What is asked. */
export type Cell = "tool" | "mcp" | "chat";

/** Figures of one Worker, round by round. */
export interface RunnerRow extends RunnerLoad {
  readonly cell: Cell;
  readonly worker: BenchWorker;
  readonly round: number;
}

/** All figures. */
export interface RunnerFigures {
  readonly loads: readonly RunnerRow[];
  readonly runs: RunFigures | undefined;
  /** What one wait for the disk takes, in milliseconds: a step that is done once waits for one. */
  readonly disk: number;
  /** Milliseconds of CPU (of the clock, where the system does not tell) over an empty Worker, and bytes, minified and gzipped. */
  readonly isolate: { readonly start: number; readonly bytes: number } | undefined;
  /** Of the runner and the loop in memory. */
  readonly memory: Figures | undefined;
}

const jobs: readonly { readonly cell: Cell; readonly worker: BenchWorker; readonly request: Asked }[] = [
  { cell: "tool", worker: "proxy", request: toolCall },
  { cell: "tool", worker: "pass", request: toolCall },
  { cell: "tool", worker: "object", request: toolCall },
  { cell: "tool", worker: "worker", request: toolCall },
  { cell: "mcp", worker: "proxy", request: mcpCall("noop") },
  { cell: "mcp", worker: "pass", request: mcpCall("noop") },
  { cell: "mcp", worker: "object", request: mcpCall("up__noop") },
  { cell: "mcp", worker: "worker", request: mcpCall("up__noop") },
  { cell: "chat", worker: "object", request: chat },
];

/**
 * Measures everything.
 *
 * @throws {Error} When something does not answer as it should: it is ours.
 */
export async function measureRunner(options: RunnerBenchOptions): Promise<RunnerFigures> {
  const { bun, workerd, folder, quick, only } = options;
  const wanted = (part: string) => only.length === 0 || only.some((name) => part.includes(name));
  await using upstream = await startUpstream(bun, folder);
  const settings = { workerd, folder, upstream: `http://127.0.0.1:${upstream.port}/mcp` };
  const loads = wanted("load") ? await measureLoads(settings, quick) : [];
  let runs: RunFigures | undefined;
  if (wanted("runs")) {
    console.error("runner: runs");
    await using served = await startBenchWorker("object", settings);
    runs = await measureRunsApi(served, quick);
  }
  const disk = diskWait(folder);
  const isolate = wanted("isolate") ? await measureIsolate(options) : undefined;
  return { loads, runs, disk, isolate, memory: wanted("memory") ? await measureMemory(options) : undefined };
}

/** Round by round, each other one backwards; all of them run all the time. */
async function measureLoads(
  settings: { readonly workerd: string; readonly folder: string; readonly upstream: string },
  quick: boolean,
): Promise<RunnerRow[]> {
  await using workers = new AsyncDisposableStack();
  const served = new Map<BenchWorker, Served>();
  for (const name of ["proxy", "pass", "object", "worker"] as const) {
    served.set(name, workers.use(await startBenchWorker(name, settings)));
  }
  const rows: RunnerRow[] = [];
  for (let round = 0; round < (quick ? 3 : 7); round++) {
    console.error(`runner, round ${round + 1}: load`);
    for (const { cell, worker, request } of round % 2 === 0 ? jobs : [...jobs].reverse()) {
      const at = served.get(worker);
      if (at) rows.push({ cell, worker, round, ...await load(at, request, quick ? 700 : 1_500) });
    }
  }
  return rows;
}

/** A Worker that makes a runner with one hub and an API key when it is loaded, over an empty one: the least of many starts, in turn. */
async function measureIsolate(
  { workerd, folder, quick }: RunnerBenchOptions,
): Promise<{ readonly start: number; readonly bytes: number }> {
  console.error("runner: start of a Worker");
  const path = join(folder, "runner_start.mjs");
  const text = await build(
    `import { openHub } from "../src/entry/workers.ts";
     import { createKeyList, createPolicy, createRunner } from "../src/runner/mod.ts";
     const runner = createRunner({
       access: {
         keys: createKeyList([{ hash: "${"0".repeat(64)}", principal: "ada", tenant: "acme" }]),
         policy: createPolicy([{ effect: "allow" }]),
       },
       hubs: () => openHub({ up: { url: "http://127.0.0.1:1/mcp" } }),
     });
     export default { fetch: (request) => request.method === "GET" ? new Response("ok") : runner.fetch(request) };`,
    { ...forWorkers, outfile: path, target: "es2022" },
  );
  const empty = join(folder, "runner_empty.mjs");
  await build(`export default { fetch: () => new Response("ok") };`, { ...forWorkers, outfile: empty });
  const least = { full: Infinity, empty: Infinity };
  for (let round = 0; round < (quick ? 6 : 16); round++) {
    for (const [name, worker] of [["full", path], ["empty", empty]] as const) {
      const { start, cpu } = await startWorker(workerd, worker, isolates);
      least[name] = Math.min(least[name], (Number.isNaN(cpu) ? start : cpu) / isolates);
    }
  }
  return { start: least.full - least.empty, bytes: gzipped(text) };
}

async function measureMemory({ bun, folder }: RunnerBenchOptions): Promise<Figures> {
  console.error("runner: memory");
  const program = join(folder, "runner_memory.mjs");
  await build(`import { measureMemory } from "./runner/memory.ts"; await measureMemory();`, {
    outfile: program,
    target: "esnext",
  });
  const { code, output, standardOutput } = await runProcess([bun, program]);
  const line = standardOutput.split("\n").findLast((line) => line.startsWith("{"));
  if (code !== 0 || line === undefined) throw new Error(`The bench of the runner failed: ${output}`);
  return JSON.parse(line);
}

/** How long the disk takes to have what was written: the median of 100. */
function diskWait(folder: string): number {
  const path = join(folder, "disk_wait");
  const file = openSync(path, "w");
  try {
    const times = Array.from({ length: 100 }, () => {
      writeSync(file, new Uint8Array(4_096));
      const began = performance.now();
      fdatasyncSync(file);
      return performance.now() - began;
    });
    return median(times) ?? NaN;
  } finally {
    closeSync(file);
    rmSync(path);
  }
}
