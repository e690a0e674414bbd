/** The table of the hub bench: medians over the rounds, and the verdict on each target. */
import { loadavg } from "node:os";
import { median } from "../results.ts";
import type { HubSample } from "./run.ts";

/** One row: a figure, how it is written, and the most that it may be; without `most` nothing is demanded. */
export interface Row {
  readonly figure: string;
  readonly title: string;
  readonly unit: "ms" | "µs" | "MB";
  readonly most?: number;
  /** A runtime in which it cannot be measured. */
  readonly without?: HubSample["runtime"];
}

const rows: readonly Row[] = [
  { figure: "build", title: "catalog, first build of the process", unit: "ms", most: 50 },
  { figure: "rebuild", title: "catalog, later builds", unit: "ms" },
  { figure: "lookup", title: "lookup of one name", unit: "µs", most: 1 },
  { figure: "refresh", title: "refresh of one server, and a lookup", unit: "ms", most: 1 },
  { figure: "memory", title: "memory, lists and catalog", unit: "MB", most: 40 },
  { figure: "view", title: "of it, the catalog's own", unit: "MB" },
  { figure: "index", title: "search, first index", unit: "ms" },
  { figure: "searchable", title: "search, memory of the index", unit: "MB" },
  { figure: "search", title: "search, the slowest of 9 queries", unit: "ms", most: 5 },
  { figure: "usual", title: "search, the usual query", unit: "ms" },
];

/** Writes the table, and counts the verdicts. */
export function writeHubReport(samples: readonly HubSample[]): { text: string; met: number; missed: number } {
  return writeTable("200 servers with 50 tools each", rows, samples);
}

/** Writes a table with a column for each runtime, and counts the verdicts. */
export function writeTable(
  title: string,
  rows: readonly Row[],
  samples: readonly HubSample[],
): { text: string; met: number; missed: number } {
  const runtimes = [...new Set(samples.map(({ runtime }) => runtime))].sort();
  const counts = { met: 0, missed: 0 };
  const lines = rows.map((row) => writeRow(row, samples, runtimes, counts));
  const heads = runtimes.map((name) => name.padStart(10)).join("");
  const head = `${title.padEnd(40)}${heads}${"target".padStart(12)}  verdict`;
  const load = `Medians over fresh processes (load ${loadavg()[0]?.toFixed(1)} in the end)`;
  return { text: ["", head, ...lines, "", load].join("\n"), ...counts };
}

function writeRow(
  { figure, title, unit, most, without }: Row,
  samples: readonly HubSample[],
  runtimes: readonly HubSample["runtime"][],
  counts: { met: number; missed: number },
): string {
  const values = runtimes.map((runtime) => {
    const value = median(samples.filter((sample) => sample.runtime === runtime).map(({ figures }) => figures[figure]));
    return (value ?? NaN) / (unit === "MB" ? 1e6 : 1);
  });
  const cells = values.map((value, at) => {
    return ` ${runtimes[at] === without ? "–" : `${value.toFixed(value < 100 ? 2 : 0)} ${unit}`}`.padStart(10);
  }).join("");
  const line = title.padEnd(40) + cells;
  if (most === undefined) return line;
  const judged = runtimes.filter((runtime) => runtime !== without);
  const missed = judged.filter((runtime) => !((values[runtimes.indexOf(runtime)] ?? NaN) <= most));
  counts.met += judged.length - missed.length;
  counts.missed += missed.length;
  const verdict = missed.length === 0 ? "met" : `MISSED on ${missed.join(", ")}`;
  return `${line}${`≤ ${most} ${unit}`.padStart(12)}  ${verdict}`;
}
