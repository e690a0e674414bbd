/** The table of the bench of durable runs: medians over the rounds, and the verdict on each target. */
import { type Row, writeTable } from "../hub/report.ts";
import type { HubSample } from "../hub/run.ts";

const rows: readonly Row[] = [
  { figure: "step", title: "a step that is done once", unit: "ms", most: 1 },
  { figure: "repeatable", title: "a step that may be repeated", unit: "ms", most: 1 },
  { figure: "sealedStep", title: "a step that is done once, sealed", unit: "ms", most: 1 },
  { figure: "sealedRepeatable", title: "a step that may be repeated, sealed", unit: "ms", most: 1 },
  { figure: "replay", title: "replay of 1,000 steps", unit: "ms", without: "workerd" },
  { figure: "sealedReplay", title: "replay of 1,000 sealed steps", unit: "ms", without: "workerd" },
  { figure: "first", title: "from the start to the first event", unit: "ms", most: 20, without: "workerd" },
  { figure: "crowd", title: "1,000 runs of 10 steps at once", unit: "ms" },
  { figure: "crowdPeak", title: "of it, memory at the most", unit: "MB" },
  { figure: "crowdLeft", title: "of it, heap that is left", unit: "MB", most: 8, without: "workerd" },
];

/** Writes the table, and counts the verdicts. */
export function writeRunsReport(samples: readonly HubSample[]): { text: string; met: number; missed: number } {
  return writeTable("Durable runs: files, and an object", rows, samples);
}
