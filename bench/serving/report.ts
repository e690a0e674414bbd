/** The table of the serving bench: medians, ratios inside each round, and the verdict on each target. */
import { loadavg } from "node:os";
import { median } from "../results.ts";
import type { ServingEra } from "./messages.ts";
import type { ServerName, WorkerName } from "./programs.ts";
import { crowd, type IsolateStart, type LoadRow, type ServingFigures, type StartTimes } from "./run.ts";

/** What the table says in the end. */
export interface ServingReport {
  readonly text: string;
  readonly met: number;
  readonly missed: number;
}

interface Verdict {
  readonly what: string;
  readonly value: number | undefined;
  readonly unit: string;
  readonly target: number;
  readonly least: boolean;
}

/** Writes the table. */
export function writeServingReport(figures: ServingFigures): ServingReport {
  const verdicts = judge(figures).filter(({ value }) => value !== undefined && Number.isFinite(value));
  const met = verdicts.filter(isMet).length;
  const lines = [
    "",
    "SERVING, on Bun: a tool that does nothing, 32 calls in flight, medians",
    ...loadLines(figures.loads),
    ...isolateLines(figures.isolates),
  ];
  lines.push("", "");
  for (const verdict of verdicts) {
    const { what, value = NaN, unit, target, least } = verdict;
    const sign = least ? "≥" : "≤";
    const said = `${value.toFixed(2)}${unit}`.padStart(12) + `${sign} ${target}${unit}`.padStart(12);
    lines.push(` ${what.padEnd(62)}${said}  ${isMet(verdict) ? "met" : "MISSED"}`);
  }
  // Nobody bundles all of it: what it holds grows with what can be asked for by name.
  lines.push(
    ` ${"./server with everything that it exports: gzip".padEnd(62)}${
      (figures.sizes.whole / 1_024).toFixed(2).padStart(8)
    } KiB`,
  );
  lines.push("", `Ratios are medians of the ratios inside each round (load ${loadavg()[0]?.toFixed(1)} in the end)`);
  return { text: lines.join("\n"), met, missed: verdicts.length - met };
}

function loadLines(loads: readonly LoadRow[]): string[] {
  const lines = [` ${"".padEnd(22)}${"calls/s".padStart(10)}${"CPU µs".padStart(10)}`];
  const names = new Set(loads.map(({ cell, era, server }) => `${cell} ${era} ${server}`));
  for (const name of [...names].sort()) {
    const rows = loads.filter(({ cell, era, server }) => `${cell} ${era} ${server}` === name);
    const rate = median(rows.map((row) => row.rate)) ?? NaN;
    const cpu = median(rows.map((row) => row.cpu));
    lines.push(` ${name.padEnd(22)}${rate.toFixed(0).padStart(10)}${(cpu?.toFixed(1) ?? "–").padStart(10)}`);
  }
  return lines;
}

/** What each Worker costs over an empty one: who wants to know what is Hono's share finds it here. */
function isolateLines(isolates: ServingFigures["isolates"]): string[] {
  const { empty } = isolates;
  if (empty === undefined) return [];
  const rows: readonly (readonly [WorkerName, string])[] = [
    ["hono", "Hono with one route"],
    ["tool", "ToolServer, modern era"],
    ["toolInHono", "the same in Hono"],
    ["whole", "McpServer, both eras"],
    ["runner", "the runner, deployed"],
  ];
  const cells = (each: StartTimes | undefined, first: StartTimes | undefined): string =>
    [each?.start, each?.cpu, first?.start, first?.cpu].map((value) => value?.toFixed(1).padStart(10)).join("");
  return [
    "",
    `START OF A WORKER over an empty one, the least of all: an isolate among ${crowd} of one process, and the first of one`,
    ` ${"".padEnd(22)}${["ms", "CPU ms", "first ms", "CPU ms"].map((title) => title.padStart(10)).join("")}`,
    ` ${"(the empty one)".padEnd(22)}${cells(empty.each, empty.first)}`,
    ...rows.map(([name, what]) =>
      ` ${what.padEnd(22)}${cells(over(isolates, name, "each"), over(isolates, name, "first"))}`
    ),
  ];
}

function over(
  isolates: ServingFigures["isolates"],
  name: WorkerName,
  which: keyof IsolateStart,
): StartTimes | undefined {
  const { empty, [name]: own } = isolates;
  if (empty === undefined || own === undefined) return undefined;
  return { start: own[which].start - empty[which].start, cpu: own[which].cpu - empty[which].cpu };
}

function judge({ loads, streams, isolates, sizes }: ServingFigures): Verdict[] {
  const ratio = (cell: LoadRow["cell"], era: ServingEra, other: ServerName, figure: "rate" | "cpu") =>
    ratioOf(loads.filter((row) => row.cell === cell && row.era === era), other, figure);
  const isolate = over(isolates, "toolInHono", "each");
  const runner = over(isolates, "runner", "each");
  const [many, few] = [{ unit: " ×", least: true }, { unit: " ×", least: false }];
  return [
    { what: "http modern: throughput ÷ SDK", value: ratio("http", "modern", "sdk", "rate"), target: 2, ...many },
    { what: "http legacy: throughput ÷ SDK", value: ratio("http", "legacy", "sdk", "rate"), target: 2, ...many },
    { what: "http modern: CPU ÷ bare Hono route", value: ratio("http", "modern", "hono", "cpu"), target: 1.5, ...few },
    { what: "http modern: CPU ÷ bare Bun.serve", value: ratio("http", "modern", "bare", "cpu"), target: 1.5, ...few },
    { what: "stdio modern: rate ÷ SDK", value: ratio("stdio", "modern", "sdk", "rate"), target: 3, ...many },
    { what: "stdio legacy: rate ÷ SDK", value: ratio("stdio", "legacy", "sdk", "rate"), target: 3, ...many },
    {
      what: `memory of ${streams?.count} open streams`,
      value: streams?.mib,
      unit: " MiB",
      target: 100,
      least: false,
    },
    {
      // On an idle machine both say the same; CPU says it on a busy one too.
      what: `Worker with one tool, in Hono: start over an empty one, ${isolate?.cpu ? "CPU" : "clock"}`,
      value: isolate?.cpu || isolate?.start,
      unit: " ms",
      target: 5,
      least: false,
    },
    {
      what: `Worker of the runner: start over an empty one, ${runner?.cpu ? "CPU" : "clock"}`,
      value: runner?.cpu || runner?.start,
      unit: " ms",
      target: 15,
      least: false,
    },
    {
      what: "Worker with one tool, in Hono: gzip",
      value: sizes.worker / 1_024,
      unit: " KiB",
      target: 30,
      least: false,
    },
  ];
}

function ratioOf(rows: readonly LoadRow[], other: ServerName, figure: "rate" | "cpu"): number | undefined {
  const others = new Map(rows.filter(({ server }) => server === other).map((row) => [row.round, row[figure]]));
  return median(
    rows.filter(({ server }) => server === "ours").map((row) => {
      const [own, base] = [row[figure], others.get(row.round)];
      return own === undefined || base === undefined ? undefined : own / base;
    }),
  );
}

function isMet({ value = NaN, target, least }: Verdict): boolean {
  return least ? value >= target : value <= target;
}
