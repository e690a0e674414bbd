/** The bench of durable runs: an SQLite file, in fresh processes of each runtime. */
import { join } from "node:path";
import { runProcess } from "../../tools/process.ts";
import { build } from "../build.ts";
import type { Runtime } from "../clients/client.ts";
import type { HubSample } from "../hub/run.ts";
import { measureObject } from "./workerd.ts";

/** What the bench of runs works with. */
export interface RunsBenchOptions {
  /** How each runtime is started, with its collector callable; a runtime that is not there is not measured. */
  readonly commands: Readonly<Partial<Record<Runtime, readonly string[]>>>;
  /** Where bundles are kept. */
  readonly folder: string;
  /** Whether workerd is there. */
  readonly hasObject: boolean;
  /** One round instead of three. */
  readonly quick: boolean;
}

/**
 * Measures everything; each other round runs the runtimes backwards.
 *
 * @throws {Error} When a process fails: it is ours.
 */
export async function measureDurableRuns(
  { commands, folder, hasObject, quick }: RunsBenchOptions,
): Promise<HubSample[]> {
  const program = join(folder, "runs.mjs");
  await build(`import { measureRuns } from "./runs/measure.ts"; await measureRuns();`, {
    outfile: program,
    target: "node20",
    external: ["node:*"],
  });
  const samples: HubSample[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const runtimes = Object.keys(commands) as Runtime[];
    for (const runtime of round % 2 === 0 ? runtimes : runtimes.reverse()) {
      console.error(`runs, round ${round + 1}: ${runtime}`);
      const { code, output, standardOutput } = await runProcess([...commands[runtime] ?? [], program]);
      const line = standardOutput.split("\n").findLast((line) => line.startsWith("{"));
      if (code !== 0 || line === undefined) throw new Error(`The bench of runs failed on ${runtime}: ${output}`);
      samples.push({ runtime, figures: JSON.parse(line) });
    }
    if (!hasObject) continue;
    console.error(`runs, round ${round + 1}: workerd`);
    samples.push({ runtime: "workerd", figures: await measureObject(folder) });
  }
  return samples;
}
