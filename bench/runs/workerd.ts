/** The bench of durable runs in a Durable Object: workerd alone, timed from outside, since its clock stands still while it works. */
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildWorker, startWorkerd } from "../../tests/agent/runs/kills/workerd_process.ts";
import { root } from "../../tools/programs.ts";
import { median } from "../results.ts";
import type { Figures } from "../task.ts";

/** Measures in a folder of its own. Milliseconds; bytes for memory, where the system tells. */
export async function measureObject(folder: string): Promise<Figures> {
  const place = join(folder, "runs_object");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  await buildWorker(place, join(root, "bench", "runs", "worker.ts"));
  const workerd = await startWorkerd(place, { ledger: "" });
  try {
    const ask = async (agent: string, count: number, object = "plain"): Promise<number> => {
      const began = performance.now();
      const response = await fetch(`${workerd.url}/${object}?agent=${agent}&count=${count}`);
      if (await response.text() !== "done") {
        throw new Error(`the Worker answered ${response.status}: ${workerd.output()}`);
      }
      return performance.now() - began;
    };
    const often = async (agent: string, object?: string): Promise<number> => {
      const samples: number[] = [];
      for (let round = 0; round < 5; round++) samples.push(await ask(agent, 1, object));
      return (median(samples) ?? NaN) / 400;
    };
    await ask("again", 1);
    await ask("again", 1, "sealed");
    const figures = {
      step: await often("once"),
      repeatable: await often("again"),
      sealedStep: await often("once", "sealed"),
      sealedRepeatable: await often("again", "sealed"),
    };
    const before = residentOf(workerd.pid);
    let most = before;
    const watch = setInterval(() => most = Math.max(most, residentOf(workerd.pid)), 20);
    const crowd = await ask("small", 1_000).finally(() => clearInterval(watch));
    return { ...figures, crowd, crowdPeak: most - before };
  } finally {
    await workerd.kill();
  }
}

function residentOf(pid: number): number {
  try {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(found) * 1_024;
  } catch {
    return NaN;
  }
}
