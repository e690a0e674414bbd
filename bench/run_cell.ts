/**
 * One cell in a process of its own: connects one client, measures, and prints one line of JSON. The build makes a program
 * of it for each client and runtime (build.ts); it is told what to do by one argument of JSON.
 */
import process from "node:process";
import type { BenchClient } from "./clients/client.ts";
import { discover, first, importLibrary, list } from "./cells/connecting.ts";
import { breakAll, callHundred, countTrips } from "./cells/behaviour.ts";
import { startIsolates } from "./cells/isolate.ts";
import type { CellContext, CellTask, Figures } from "./task.ts";
import { big, inFlight, progress, sequential } from "./cells/speed.ts";

type Cell = (context: CellContext) => Promise<Figures>;

const cells: Readonly<Record<string, Cell>> = {
  http_json: (context) => sequential(context, context.http("modern"), "echo"),
  http_sse: (context) => sequential(context, context.http("modern", "sse"), "echo"),
  http_typed: (context) => sequential(context, context.http("modern"), "typed"),
  http_flight: (context) => inFlight(context, context.http("modern"), "echo"),
  http_progress: (context) => progress(context, context.http("modern")),
  http_list: (context) => list(context, context.http("modern")),
  http_1m: (context) => big(context, context.http("modern"), 1),
  http_10m: (context) => big(context, context.http("modern"), 10),
  http_first: (context) => first(context, context.http("auto")),
  stdio_json: (context) => sequential(context, context.stdio("legacy"), "echo"),
  stdio_flight: (context) => inFlight(context, context.stdio("legacy"), "echo"),
  stdio_modern: (context) => inFlight(context, context.stdio("modern"), "echo"),
  stdio_typed: (context) => inFlight(context, context.stdio("legacy"), "typed"),
  stdio_list: (context) => list(context, context.stdio("legacy")),
  stdio_1m: (context) => big(context, context.stdio("legacy"), 1),
  stdio_10m: (context) => big(context, context.stdio("legacy"), 10),
  stdio_first: (context) => first(context, context.stdio("auto")),
  discovery: (context) => discover(context, context.stdio("auto")),
  import: ({ task }) => importLibrary(task.library ?? ""),
  isolate: ({ task }) => startIsolates(task),
  trips: countTrips,
  faults: breakAll,
  hundred: callHundred,
  heap: async ({ task }) => (await import("./cells/heap.ts")).callInMemory(task.count),
  bombs: async () => (await import("./cells/bombs.ts")).checkBombs(),
};

/** Runs the cell that the argument names and prints its figures. */
export async function runCell(create: () => BenchClient): Promise<void> {
  const task: CellTask = JSON.parse(process.argv[2] ?? "{}");
  const cell = cells[task.cell];
  if (cell === undefined) {
    throw new RangeError(`There is no cell ${JSON.stringify(task.cell)}`);
  }
  const [command = "", ...args] = task.server;
  const figures = await cell({
    task,
    create,
    async ready(target) {
      const client = create();
      await client.connect(target);
      const count = await client.list();
      if (count !== 200) throw new Error(`expected 200 tools, got ${count}`);
      return client;
    },
    http: (era, reply = "json", path = "both/shared") => ({
      kind: "http",
      url: `${task.origin}/${reply}/${path}`,
      era,
    }),
    stdio: (era, accepts = "both") => ({
      kind: "stdio",
      command,
      args: [...args, accepts],
      era,
    }),
  });
  console.log(JSON.stringify(figures));
  // A peer may leave a stream open that would keep this process alive.
  process.exit();
}
