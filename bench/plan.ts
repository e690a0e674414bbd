/** What is measured: cells, the clients that run in each, how often, and in how many rounds. */
import type { ClientName } from "./build.ts";
import type { Runtime } from "./clients/client.ts";

/** One cell of the bench; each client runs it in processes of its own. */
export interface PlannedCell {
  readonly name: string;
  readonly clients: readonly ClientName[];
  /** How often the measured thing is repeated inside one process. */
  readonly count: Readonly<Record<Runtime, number>>;
  readonly rounds: number;
  /** Part of `--quick`. */
  readonly quick: boolean;
  /** Where it runs, if not everywhere. */
  readonly only?: Runtime;
}

/** How much is to be done. */
export interface Extent {
  readonly quick: boolean;
  readonly full: boolean;
}

const everyone: readonly ClientName[] = ["floor", "ours", "sdk", "ai"];
const clients: readonly ClientName[] = ["ours", "sdk", "ai"];
const withHooks: readonly ClientName[] = ["floor", "ours", "sdk"];
const measured: readonly ClientName[] = ["floor", "ours"];

/** All cells for an extent. */
export function planCells({ quick, full }: Extent): PlannedCell[] {
  const heap = full ? 1_000_000 : 100_000;
  const cells = [
    cell("http_json", everyone, [2_000, 1_200, 600], { quick: true }),
    cell("http_sse", everyone, [2_000, 1_200, 600]),
    cell("http_flight", everyone, [8_000, 4_000, 2_000], { quick: true }),
    cell("http_typed", withHooks, [1_500, 1_000, 500]),
    cell("http_progress", withHooks, [20, 20, 20], { quick: true }),
    cell("http_list", everyone, [60, 60, 60], { quick: true }),
    cell("http_1m", everyone, [12, 12, 12]),
    cell("http_10m", everyone, [4, 4, 4], { rounds: 5 }),
    cell("stdio_json", everyone, [4_000, 3_000, 3_000]),
    cell("stdio_flight", everyone, [20_000, 20_000, 20_000], { quick: true }),
    cell("stdio_modern", measured, [20_000, 20_000, 20_000]),
    cell("stdio_typed", withHooks, [12_000, 12_000, 12_000]),
    cell("stdio_list", everyone, [60, 60, 60], { quick: true }),
    cell("stdio_1m", everyone, [12, 12, 12]),
    cell("stdio_10m", everyone, [4, 4, 4], { rounds: 5 }),
    cell("http_first", everyone, [1, 1, 1]),
    cell("stdio_first", everyone, [1, 1, 1]),
    cell("discovery", everyone, [1, 1, 1], { quick: true }),
    cell("import", clients, [1, 1, 1], { quick: true }),
    // Node only starts workerd here.
    cell("isolate", withHooks, [9, 9, 9], { quick: true, only: "node" }),
    cell("trips", clients, [1, 1, 1], { rounds: 1, quick: true }),
    cell("faults", ["ours"], [1, 1, 1], { rounds: 1, quick: true }),
    cell("hundred", ["ours"], [1, 1, 1], { rounds: 1, quick: true }),
    cell("bombs", ["ours"], [1, 1, 1], { quick: true }),
    cell("heap", ["ours"], [heap, heap, heap], { rounds: 1, quick: true }),
  ];
  if (!quick) return cells;
  return cells
    .filter((cell) => cell.quick)
    .map((cell) => ({
      ...cell,
      rounds: 1,
      clients: cell.clients.filter((client) => client !== "ai"),
      count: scaled(cell.count, cell.name === "heap" ? 0.3 : 0.5),
    }));
}

function cell(
  name: string,
  clients: readonly ClientName[],
  counts: readonly [number, number, number],
  { rounds = 3, quick = false, only }: { rounds?: number; quick?: boolean; only?: Runtime } = {},
): PlannedCell {
  const [bun, deno, node] = counts;
  return { name, clients, count: { bun, deno, node }, rounds, quick, ...(only && { only }) };
}

function scaled(count: PlannedCell["count"], factor: number): PlannedCell["count"] {
  const scale = (number: number) => Math.max(1, Math.round(number * factor));
  return {
    bun: scale(count.bun),
    deno: scale(count.deno),
    node: scale(count.node),
  };
}
