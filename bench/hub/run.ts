/** The hub bench: a catalog of 200 servers with 50 tools each, in fresh processes of each runtime. */
import { join } from "node:path";
import { runProcess } from "../../tools/process.ts";
import { build } from "../build.ts";
import type { Runtime } from "../clients/client.ts";
import type { Figures } from "../task.ts";

/** What the hub bench works with. */
export interface HubBenchOptions {
  /** How each runtime is started, with its collector callable; a runtime that is not there is not measured. */
  readonly commands: Readonly<Partial<Record<Runtime, readonly string[]>>>;
  /** Where bundles are kept. */
  readonly folder: string;
  /** One round instead of three. */
  readonly quick: boolean;
}

/** The figures of one process. */
export interface HubSample {
  readonly runtime: Runtime | "workerd";
  readonly figures: Figures;
}

/**
 * Measures everything; each other round runs the runtimes backwards.
 *
 * @throws {Error} When a process fails: it is ours.
 */
export async function measureHub({ commands, folder, quick }: HubBenchOptions): Promise<HubSample[]> {
  const program = join(folder, "hub.mjs");
  await build(`import { measureHub } from "./hub/measure.ts"; await measureHub();`, {
    outfile: program,
    target: "node20",
  });
  const samples: HubSample[] = [];
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    const runtimes = Object.keys(commands) as Runtime[];
    for (const runtime of round % 2 === 0 ? runtimes : runtimes.reverse()) {
      console.error(`hub, round ${round + 1}: ${runtime}`);
      const { code, output, standardOutput } = await runProcess([...commands[runtime] ?? [], program]);
      const line = standardOutput.split("\n").findLast((line) => line.startsWith("{"));
      if (code !== 0 || line === undefined) throw new Error(`The hub bench failed on ${runtime}: ${output}`);
      samples.push({ runtime, figures: JSON.parse(line) });
    }
  }
  return samples;
}
