/** Durable runs over an SQLite file, in a process of their own: prints one line of JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createRuns } from "../../src/agent/mod.ts";
import type { AgentEnd, RunnableAgent, Runs, RunWorld } from "../../src/agent/mod.ts";
import { settledHeap } from "../cells/measure.ts";
import { median } from "../results.ts";
import type { Figures } from "../task.ts";

const [steps, replayed, crowd] = [400, 1_000, 1_000];

/** Measures and prints. Milliseconds; bytes for memory. */
export async function measureRuns(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-bench-"));
  const { openDatabase } = "Bun" in globalThis
    ? await import("../../src/runtime/sql/bun_database.ts")
    : await import("../../src/runtime/sql/node_database.ts");
  const database = await openDatabase(join(folder, "runs.db"));
  const other = await openDatabase(join(folder, "sealed.db"));
  const times: { replay: number; began: number } = { replay: NaN, began: 0 };
  const agents = {
    once: agentOf((world) => doSteps(world, steps, false)),
    again: agentOf((world) => doSteps(world, steps, true)),
    replay: agentOf(async (world) => {
      const began = performance.now();
      await doSteps(world, replayed, true);
      times.replay = performance.now() - began;
      await askPerson(world);
    }),
    small: agentOf(async (world) => {
      world.emit("step:1", { type: "step", step: 1 });
      for (let round = 1; round <= 5; round++) {
        await world.steps.do(`model:${round}`, { repeatable: true }, () => pause(5));
        await world.steps.do(`tool:${round}`, {}, () => pause(5));
      }
    }),
  };
  const runs = createRuns({ database, agents, limits: { parallel: 200 } });
  const sealed = createRuns({ database: other, agents, secret: "the secret of the bench" });
  try {
    for (const one of [runs, sealed]) await finish(one, "again");
    const figures: Record<string, number> = {
      step: await medianRun(runs, "once") / steps,
      repeatable: await medianRun(runs, "again") / steps,
      first: median(await repeat(15, () => firstEvent(runs))) ?? NaN,
      replay: await replay(runs, times),
      sealedStep: await medianRun(sealed, "once") / steps,
      sealedRepeatable: await medianRun(sealed, "again") / steps,
      sealedReplay: await replay(sealed, times),
      ...await crowded(runs),
    };
    console.log(JSON.stringify(figures satisfies Figures));
  } finally {
    await Promise.all([runs.close(), sealed.close()]);
    database.close?.();
    other.close?.();
    rmSync(folder, { recursive: true, force: true });
  }
}

function agentOf(work: (world: RunWorld) => Promise<void>): RunnableAgent {
  return {
    async execute(_, world): Promise<AgentEnd> {
      await work(world);
      return { type: "succeeded", text: "", usage: { inputTokens: 0, outputTokens: 0 }, steps: 0 };
    },
  };
}

async function doSteps(world: RunWorld, count: number, repeatable: boolean): Promise<void> {
  for (let at = 0; at < count; at++) {
    await world.steps.do(`step:${at}`, { repeatable }, () => Promise.resolve({ at, text: "a result of some length" }));
  }
}

async function askPerson(world: RunWorld): Promise<void> {
  const call = { id: "c", server: "s", tool: "t", name: "s_t", arguments: {}, argumentsHash: "00" };
  await world.ask({ id: "go on?", kind: "approval", server: "s", message: "go on?", askedAt: 0, call });
}

async function finish(runs: Runs, agent: string): Promise<number> {
  const began = performance.now();
  const { id } = await runs.start({ agent, principal: "bench", input: "go" });
  for await (const { event } of runs.events(id)) if (event.type === "failed") throw new Error(event.error.message);
  return performance.now() - began;
}

async function medianRun(runs: Runs, agent: string): Promise<number> {
  return median(await repeat(5, () => finish(runs, agent))) ?? NaN;
}

async function firstEvent(runs: Runs): Promise<number> {
  const began = performance.now();
  const { id } = await runs.start({ agent: "small", principal: "bench", input: "go" });
  let took = NaN;
  for await (const _ of runs.events(id)) took = Number.isNaN(took) ? performance.now() - began : took;
  return took;
}

/** How long a run of 1,000 steps takes to come to where it was, after its question was answered. */
async function replay(runs: Runs, times: { readonly replay: number }): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < 5; round++) {
    const { id } = await runs.start({ agent: "replay", principal: "bench", input: "go" });
    while ((await runs.get(id))?.questions.length !== 1) await pause(5);
    await pause(60);
    await runs.answer(id, "go on?", { action: "accept" });
    for await (const { event } of runs.events(id)) if (event.type === "failed") throw new Error(event.error.message);
    samples.push(times.replay);
  }
  return median(samples) ?? NaN;
}

/** 1,000 runs at once: until the last has ended, and what the process grew by at most. */
async function crowded(runs: Runs): Promise<Figures> {
  const before = await settledHeap();
  const resident = process.memoryUsage().rss;
  let most = resident;
  const watch = setInterval(() => most = Math.max(most, process.memoryUsage().rss), 20);
  const began = performance.now();
  await Promise.all(Array.from({ length: crowd }, () => finish(runs, "small")));
  const took = performance.now() - began;
  clearInterval(watch);
  return { crowd: took, crowdPeak: most - resident, crowdLeft: Math.max(0, await settledHeap() - before) };
}

async function repeat(times: number, work: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let at = 0; at < times; at++) samples.push(await work());
  return samples;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
