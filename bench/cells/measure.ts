/** Wall and CPU time of some work. */
import process from "node:process";
import { readFileSync } from "node:fs";

declare const Bun: { gc(force: boolean): void } | undefined;
declare const gc: (() => void) | undefined;

/** Microseconds per unit of the work: on the wall, and of all threads of this process (user and system). */
export interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** Measures `work`, which does so many units. */
export async function measure(units: number, work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const started = performance.now();
  await work();
  const wall = (performance.now() - started) * 1_000;
  const { user, system } = process.cpuUsage(before);
  return { wall: wall / units, cpu: (user + system) / units };
}

/** What calls cost soon after the start, and once the runtime has compiled what it wants to. */
export interface Costs extends Cost {
  readonly warmWall: number;
  readonly warmCpu: number;
}

/** Measures so many calls, and as many again after four times as many. */
export async function measureTwice(calls: number, run: (calls: number) => Promise<unknown>): Promise<Costs> {
  const cost = await measure(calls, () => run(calls));
  await run(4 * calls);
  const { wall, cpu } = await measure(calls, () => run(calls));
  return { ...cost, warmWall: wall, warmCpu: cpu };
}

/** The most memory that this process has held, in MiB: what Linux tells, else what the runtime does. */
export function peakMemory(): number {
  try {
    const found = /VmHWM:\s*(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"));
    if (found) return Number(found[1]) / 1_024;
  } catch {
    // not Linux
  }
  return process.resourceUsage().maxRSS / 1_024;
}

/** The heap in use after the rubbish was collected. */
export async function settledHeap(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    if (typeof Bun !== "undefined") Bun.gc(true);
    else if (typeof gc !== "undefined") gc();
    else {
      throw new Error("the collector cannot be called: --expose-gc is missing");
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return process.memoryUsage().heapUsed;
}
