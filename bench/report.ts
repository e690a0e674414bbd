/** The table on the terminal: medians, ratios to the floor and to the best peer, and the verdict on each target. */
import type { ClientName } from "./build.ts";
import type { Runtime } from "./clients/client.ts";
import type { CellResults, Results } from "./results.ts";
import { type Row, rows, type Unit, type Verdict } from "./targets.ts";

/** What the table says in the end. */
export interface Report {
  readonly text: string;
  readonly met: number;
  readonly missed: number;
}

const widths = [32, 10, 10, 10, 10, 9, 8, 15, 6];
const heading = ["", "floor", "ours", "sdk", "ai", "÷ floor", "÷ peer", "target", ""];
const columns: readonly ClientName[] = ["floor", "ours", "sdk", "ai"];

/** Writes the table of some runtimes; rows without any figure are left out. */
export function writeReport(results: Results, runtimes: readonly Runtime[]): Report {
  const lines: string[] = [];
  let [met, missed] = [0, 0];
  for (const runtime of runtimes) {
    lines.push("", line([runtime.toUpperCase(), ...heading.slice(1)]), "─".repeat(line(heading).length));
    for (const row of rows) {
      const cell = results.cell(runtime, row.cell);
      const verdict = row.judge?.(cell, runtime);
      const written = writeRow(row, cell, verdict);
      if (written === undefined) continue;
      lines.push(written);
      if (verdict?.met === true) met++;
      if (verdict?.met === false) missed++;
    }
  }
  return { text: lines.join("\n"), met, missed };
}

function writeRow(row: Row, cell: CellResults, verdict: Verdict | undefined): string | undefined {
  const medians = columns.map((client) => cell.median(client, row.figure));
  const failure = cell.failure("ours");
  if (medians.every((median) => median === undefined)) {
    return failure === undefined ? undefined : `${row.title.padEnd(widths[0] ?? 0)}failed: ${failure}`;
  }
  const compares = row.unit !== "count" && row.unit !== "bytes";
  return line([
    row.title,
    ...medians.map((median) => (median === undefined ? "–" : write(median, row.unit))),
    compares ? ratio(cell.ratio("ours", "floor", row.figure)) : "",
    compares ? ratio(bestPeer(cell, row)) : "",
    verdict?.target ?? "",
    verdict === undefined ? "" : verdict.met ? (verdict.stretch === true ? "met +" : "met") : "MISSED",
  ]);
}

/** Ours against the peer that does best in this row. */
function bestPeer(cell: CellResults, { figure, unit }: Row): number | undefined {
  const ratios = (["sdk", "ai"] as const).flatMap((peer) => cell.ratio("ours", peer, figure) ?? []);
  if (ratios.length === 0) return undefined;
  return unit === "/s" ? Math.min(...ratios) : Math.max(...ratios);
}

function ratio(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(2);
}

function line(cells: readonly string[]): string {
  return cells
    .map((text, index) => {
      const width = widths[index] ?? 10;
      return index === 0 || index === 8 ? ` ${text}`.padEnd(width) : text.padStart(width);
    })
    .join("")
    .trimEnd();
}

function write(value: number, unit: Unit): string {
  const scaled = unit === "µs as ms" ? value / 1_000 : value;
  const digits = unit === "/s" || unit === "count" || unit === "bytes" || scaled >= 1_000 ? 0 : scaled < 100 ? 2 : 1;
  const suffix = unit === "count" || unit === "bytes" ? "" : unit === "µs as ms" ? "ms" : unit;
  const text = scaled.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${text}${suffix}`;
}
