/** The table of the runner's bench: medians, ratios inside each round, and the verdict on each target. */
import { loadavg } from "node:os";
import { median } from "../results.ts";
import type { BenchWorker } from "./workerd.ts";
import type { Cell, RunnerFigures, RunnerRow } from "./run.ts";
import { crowd } from "./runs.ts";

interface Line {
  readonly what: string;
  readonly value: number | undefined;
  readonly unit: string;
  /** The most that it may be, or the least; without either nothing is demanded. */
  readonly most?: number;
  readonly least?: number;
}

const names: Readonly<Record<BenchWorker, string>> = {
  proxy: "bare Hono proxy",
  pass: "the proxy in an object",
  object: "runner in an object",
  worker: "the whole Worker",
};

const alone = ["worker", "proxy"] as const;
const inObject = ["object", "pass"] as const;

/** Writes the table, and counts the verdicts. */
export function writeRunnerReport(figures: RunnerFigures): { text: string; met: number; missed: number } {
  const lines = judged(figures).filter(({ value }) => value !== undefined && Number.isFinite(value));
  const verdicts = lines.map(verdictOf);
  const text = [
    "",
    "THE RUNNER under workerd, an MCP server behind it: medians; alone, and 16 requests in flight",
    ...loadLines(figures.loads),
    "",
    ...lines.map((line, at) => written(line, verdicts[at] ?? "")),
    "",
    `Ratios are medians of the ratios inside each round (load ${loadavg()[0]?.toFixed(1)} in the end)`,
  ].join("\n");
  const met = verdicts.filter((verdict) => verdict === "met").length;
  return { text, met, missed: verdicts.filter((verdict) => verdict === "MISSED").length };
}

function loadLines(loads: readonly RunnerRow[]): string[] {
  if (loads.length === 0) return [];
  const heads = ["alone ms", "requests/s", "CPU µs"].map((head) => head.padStart(12)).join("");
  const cells = new Set(loads.map(({ cell, worker }) => `${cell} ${worker}`));
  return [
    ` ${"".padEnd(34)}${heads}`,
    ...[...cells].sort().map((name) => {
      const rows = loads.filter(({ cell, worker }) => `${cell} ${worker}` === name);
      const [first] = rows;
      const alone = median(rows.map(({ alone }) => alone))?.toFixed(2) ?? "";
      const rate = median(rows.map(({ rate }) => rate))?.toFixed(0) ?? "";
      const cpu = median(rows.map(({ cpu }) => cpu))?.toFixed(0) ?? "–";
      const title = first ? `${titles[first.cell]}: ${names[first.worker]}` : name;
      return ` ${title.padEnd(34)}${[alone, rate, cpu].map((value) => value.padStart(12)).join("")}`;
    }),
  ];
}

const titles: Readonly<Record<Cell, string>> = { tool: "tool", mcp: "/mcp", chat: "/v1" };

function judged({ loads, runs, disk, isolate, memory }: RunnerFigures): Line[] {
  const compare = (
    cell: Cell,
    [worker, other]: readonly [BenchWorker, BenchWorker],
    by: (own: RunnerRow, base: RunnerRow) => number,
  ) =>
    median(
      loads.filter((row) => row.cell === cell && row.worker === worker).map((own) => {
        const base = loads.find((row) => row.cell === cell && row.worker === other && row.round === own.round);
        return base && by(own, base);
      }),
    );
  const added = (own: RunnerRow, base: RunnerRow): number => own.alone - base.alone;
  const ratio = (own: RunnerRow, base: RunnerRow): number => own.rate / base.rate;
  return [
    { what: "tool: added to the bare proxy", value: compare("tool", alone, added), unit: " ms", most: 3 },
    { what: "tool: throughput ÷ bare proxy", value: compare("tool", alone, ratio), unit: " ×", least: 0.6 },
    { what: "tool in an object ÷ the proxy in an object", value: compare("tool", inObject, ratio), unit: " ×" },
    { what: "/mcp: added to a proxy that hands all through", value: compare("mcp", alone, added), unit: " ms" },
    { what: "/mcp: throughput ÷ that proxy", value: compare("mcp", alone, ratio), unit: " ×" },
    { what: "/mcp in an object ÷ that proxy in an object", value: compare("mcp", inObject, ratio), unit: " ×" },
    { what: "a durable step", value: runs?.step, unit: " ms", most: 1 },
    { what: "  one wait for this disk", value: disk, unit: " ms" },
    { what: "from the start of a run to its first event", value: runs?.first, unit: " ms", most: 20 },
    { what: `${crowd} runs at once: that succeeded`, value: runs?.succeeded, unit: "", least: crowd },
    { what: "  until the last has ended", value: runs && runs.crowd / 1_000, unit: " s" },
    // An isolate may have 128 MB.
    { what: "  memory, at the most", value: runs?.grown, unit: " MiB", most: 128 },
    { what: "  memory, afterwards", value: runs?.left, unit: " MiB" },
    { what: "start of a Worker with a runner, over an empty one", value: isolate?.start, unit: " ms", most: 15 },
    { what: "  gzip", value: isolate && isolate.bytes / 1_024, unit: " KiB", most: 150 },
    { what: "20,000 requests: heap that each leaves", value: memory?.["slope"], unit: " B", most: 16 },
    { what: "the agent's loop: one step, of 1,000", value: memory?.["step"], unit: " µs" },
  ];
}

function verdictOf({ value = NaN, most = Infinity, least = -Infinity }: Line): "met" | "MISSED" | "" {
  if (most === Infinity && least === -Infinity) return "";
  return value <= most && value >= least ? "met" : "MISSED";
}

function written({ what, value = NaN, unit, most, least }: Line, verdict: string): string {
  const target = most === undefined ? least === undefined ? "" : `≥ ${least}${unit}` : `≤ ${most}${unit}`;
  return ` ${what.padEnd(54)}${`${value.toFixed(2)}${unit}`.padStart(14)}${target.padStart(12)}  ${verdict}`.trimEnd();
}
