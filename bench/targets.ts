/** The rows of the table and what is demanded of each: the targets of the project, as numbers. */
import type { ClientName } from "./build.ts";
import type { Runtime } from "./clients/client.ts";
import type { CellResults } from "./results.ts";

/** What a target says about measured figures. Without `met` nothing is demanded. */
export interface Verdict {
  readonly target: string;
  readonly met: boolean;
  /** A further goal, and whether it is met too. */
  readonly stretch?: boolean;
}

/** One row of the table, for each runtime. */
export interface Row {
  readonly cell: string;
  readonly title: string;
  readonly figure: string;
  readonly unit: Unit;
  readonly judge?: (results: CellResults, runtime: Runtime) => Verdict | undefined;
}

/** How a figure is written: microseconds as µs or ms, calls per second, counts, milliseconds, multiples, MiB. */
export type Unit = "µs" | "µs as ms" | "/s" | "count" | "ms" | "×" | "bytes";

type Judge = NonNullable<Row["judge"]>;
type Limits = number | Readonly<Partial<Record<Runtime, number>> & { else: number }>;

const httpCpu = { limits: { node: 0.8, else: 1.25 }, goals: { node: 0.65, else: 1.15 } };
const httpWall = floor("wall", 1.15);
const peers: readonly ClientName[] = ["sdk", "ai"];

/** All rows, in the order of the table. */
export const rows: readonly Row[] = [
  ...twice({ cell: "http_json", title: "http sequential, CPU", figure: "cpu", unit: "µs" }, httpCpu),
  {
    cell: "http_json",
    title: "http sequential, wall",
    figure: "wall",
    unit: "µs",
    judge: httpWall,
  },
  ...twice({ cell: "http_sse", title: "http SSE reply, CPU", figure: "cpu", unit: "µs" }, httpCpu),
  {
    cell: "http_sse",
    title: "http SSE reply, wall",
    figure: "wall",
    unit: "µs",
    judge: httpWall,
  },
  ...twice({ cell: "http_flight", title: "http 32 in flight, CPU", figure: "cpu", unit: "µs" }, {
    limits: { bun: 1.35, else: 1.25 },
    goals: 1.2,
  }),
  {
    cell: "http_flight",
    title: "http 32 in flight, rate",
    figure: "rate",
    unit: "/s",
    judge: aboveEveryPeer,
  },
  {
    cell: "http_typed",
    title: "http output schema, CPU",
    figure: "cpu",
    unit: "µs",
  },
  {
    cell: "http_progress",
    title: "http 1,000 notices, warm",
    figure: "wall",
    unit: "µs as ms",
    judge: floor("wall", 1.5, 1.2),
  },
  {
    cell: "http_progress",
    title: "http 1,000 notices, cold",
    figure: "cold",
    unit: "µs as ms",
    judge: floor("cold", 2.5),
  },
  ...twice({ cell: "http_list", title: "http list of 200 tools", figure: "wall", unit: "µs" }, { limits: 1.3 }),
  {
    cell: "http_1m",
    title: "http result of 1 MiB",
    figure: "wall",
    unit: "µs as ms",
    judge: large(1),
  },
  {
    cell: "http_10m",
    title: "http result of 10 MiB",
    figure: "wall",
    unit: "µs as ms",
    judge: large(10),
  },
  {
    cell: "http_10m",
    title: "http 10 MiB, peak ÷ size",
    figure: "memory",
    unit: "×",
    judge: most("memory", 3),
  },
  ...twice({ cell: "stdio_json", title: "stdio sequential, CPU", figure: "cpu", unit: "µs" }),
  {
    cell: "stdio_json",
    title: "stdio sequential, wall",
    figure: "wall",
    unit: "µs",
  },
  ...twice({ cell: "stdio_flight", title: "stdio 32 in flight, CPU", figure: "cpu", unit: "µs" }, {
    limits: 1,
    goals: 0.9,
  }),
  {
    cell: "stdio_flight",
    title: "stdio 32 in flight, rate",
    figure: "rate",
    unit: "/s",
    judge: fourTimesSdk,
  },
  {
    cell: "stdio_modern",
    title: "stdio modern 32, CPU",
    figure: "cpu",
    unit: "µs",
  },
  {
    cell: "stdio_typed",
    title: "stdio output schema, CPU",
    figure: "cpu",
    unit: "µs",
  },
  ...twice({ cell: "stdio_list", title: "stdio list of 200 tools", figure: "wall", unit: "µs" }, { limits: 1.3 }),
  {
    cell: "stdio_1m",
    title: "stdio result of 1 MiB",
    figure: "wall",
    unit: "µs as ms",
    judge: large(1),
  },
  {
    cell: "stdio_10m",
    title: "stdio result of 10 MiB",
    figure: "wall",
    unit: "µs as ms",
    judge: large(10),
  },
  {
    cell: "stdio_10m",
    title: "stdio 10 MiB, peak ÷ size",
    figure: "memory",
    unit: "×",
    judge: most("memory", 3),
  },
  {
    cell: "http_first",
    title: "http connect and call",
    figure: "wall",
    unit: "µs as ms",
  },
  {
    cell: "http_first",
    title: "http, from process start",
    figure: "total",
    unit: "µs as ms",
  },
  {
    cell: "stdio_first",
    title: "stdio connect and call",
    figure: "wall",
    unit: "µs as ms",
  },
  {
    cell: "stdio_first",
    title: "stdio, from process start",
    figure: "total",
    unit: "µs as ms",
  },
  {
    cell: "discovery",
    title: "stdio start and list",
    figure: "wall",
    unit: "µs as ms",
    judge: most("wall", 100_000, "100 ms"),
  },
  {
    cell: "import",
    title: "import of ./client",
    figure: "wall",
    unit: "µs as ms",
    judge: most("wall", 5_000, "5 ms"),
  },
  {
    cell: "isolate",
    title: "Worker, start to reply",
    figure: "start",
    unit: "ms",
    judge: overFloor("start", 3),
  },
  trips("known_modern", "modern, with a verdict", 1),
  trips("unknown_modern", "modern, unknown", 2),
  trips("known_legacy", "legacy, with a verdict", 3),
  trips("unknown_legacy", "legacy, unknown"),
  fault("sse_end", "stream ended", 50),
  fault("sse_reset", "stream reset", 50),
  fault("sse_garbage", "no JSON in an event", 50),
  fault("json_reset", "reset before the reply", 50),
  fault("json_end", "closed before the reply", 50),
  fault("kill", "child killed (-9)", 200),
  {
    cell: "faults",
    title: "broken calls sent again",
    figure: "repeated",
    unit: "count",
    judge: most("repeated", 0),
  },
  {
    cell: "hundred",
    title: "http, of 100 calls",
    figure: "http",
    unit: "count",
    judge: least("http", 100),
  },
  {
    cell: "hundred",
    title: "stdio, of 100 calls",
    figure: "stdio",
    unit: "count",
    judge: least("stdio", 100),
  },
  {
    cell: "bombs",
    title: "worst of 14 schema bombs",
    figure: "worst",
    unit: "ms",
    judge: most("worst", 50, "50 ms"),
  },
  {
    cell: "heap",
    title: "heap per 10,000 calls",
    figure: "slope",
    unit: "bytes",
    judge: most("slope", 200_000, "0.2 MB"),
  },
  {
    cell: "heap",
    title: "listeners left",
    figure: "listeners",
    unit: "count",
    judge: most("listeners", 0),
  },
  { cell: "heap", title: "call in memory, wall", figure: "wall", unit: "µs" },
];

function trips(name: string, title: string, limit?: number): Row {
  const figure = `${name}_trips`;
  const row: Row = {
    cell: "trips",
    title: `trips, ${title}`,
    figure,
    unit: "count",
  };
  return limit === undefined ? row : { ...row, judge: most(figure, limit) };
}

function fault(figure: string, title: string, limit: number): Row {
  return {
    cell: "faults",
    title: `fault, ${title}`,
    figure,
    unit: "ms",
    judge: most(figure, limit, `${limit} ms`),
  };
}

/** A row of what is measured twice: soon after the start, and warm. Both have the same target, against the floor. */
function twice(row: Row, { limits, goals }: { limits?: Limits; goals?: Limits } = {}): Row[] {
  const warm = { ...row, title: `${row.title}, warm`, figure: row.figure === "cpu" ? "warmCpu" : "warmWall" };
  return [row, warm].map((one) => limits === undefined ? one : { ...one, judge: floor(one.figure, limits, goals) });
}

/** At most so many times the floor. */
function floor(figure: string, limits: Limits, goals?: Limits): Judge {
  return (results, runtime) => {
    const ratio = results.ratio("ours", "floor", figure);
    const limit = limitFor(limits, runtime);
    const goal = goals === undefined ? undefined : limitFor(goals, runtime);
    return ratio === undefined ? undefined : {
      target: `≤ ${limit} × floor`,
      met: ratio <= limit,
      ...(goal === undefined ? {} : { stretch: ratio <= goal }),
    };
  };
}

/** At most so many milliseconds more than the floor. */
function overFloor(figure: string, limit: number): Judge {
  return (results) => {
    const [ours, base] = [results.median("ours", figure), results.median("floor", figure)];
    return ours === undefined || base === undefined ? undefined : {
      target: `≤ floor + ${limit} ms`,
      met: ours - base <= limit,
    };
  };
}

function limitFor(limits: Limits, runtime: Runtime): number {
  return typeof limits === "number" ? limits : (limits[runtime] ?? limits.else);
}

function aboveEveryPeer(results: CellResults): Verdict | undefined {
  const ratios = peers.map((peer) => results.ratio("ours", peer, "rate")).filter((ratio) => ratio !== undefined);
  return ratios.length === 0 ? undefined : { target: "> every peer", met: ratios.every((ratio) => ratio > 1) };
}

function fourTimesSdk(results: CellResults): Verdict | undefined {
  const ratio = results.ratio("ours", "sdk", "rate");
  return ratio === undefined ? undefined : { target: "≥ 4 × sdk", met: ratio >= 4 };
}

/** At most 1.1 times the faster of the floor and the best peer, and 1 ms more for each MiB. */
function large(mebibytes: number): Judge {
  return (results) => {
    const others = (["floor", ...peers] as const).flatMap((client) => results.median(client, "wall") ?? []);
    const own = results.median("ours", "wall");
    if (own === undefined || others.length === 0) return undefined;
    const limit = 1.1 * Math.min(...others) + 1_000 * mebibytes;
    return {
      target: `≤ ${(limit / 1_000).toFixed(1)} ms`,
      met: own <= limit,
      stretch: own <= 1.1 * Math.min(...others),
    };
  };
}

/** Times and memory by their median, everything else by the worst that was seen. */
function most(figure: string, limit: number, text: string = String(limit)): Judge {
  return (results) => {
    const isTimed = ["memory", "wall", "worst"].includes(figure);
    const seen = isTimed ? results.median("ours", figure) : results.worst("ours", figure);
    return seen === undefined ? undefined : { target: `≤ ${text}`, met: seen <= limit };
  };
}

function least(figure: string, limit: number): Judge {
  return (results) => {
    const own = results.median("ours", figure);
    return own === undefined ? undefined : { target: `= ${limit}`, met: own >= limit };
  };
}
