/** Cells about what comes before the first result. */
import { pathToFileURL } from "node:url";
import type { BenchTarget } from "../clients/client.ts";
import type { CellContext, Figures } from "../task.ts";
import { measure, measureTwice } from "./measure.ts";

/** The list of 200 tools, fetched anew each time. */
export async function list(context: CellContext, target: BenchTarget): Promise<Figures> {
  const client = await context.ready(target);
  const run = async (calls: number) => {
    for (let index = 0; index < calls; index++) {
      const count = await client.list();
      if (count !== 200) throw new Error(`expected 200 tools, got ${count}`);
    }
  };
  await run(10);
  const cost = await measureTwice(context.task.count, run);
  await client.close();
  return { ...cost };
}

/** Connecting to a server of unknown era and one call; `total` counts from the start of the process. All in µs. */
export async function first(context: CellContext, target: BenchTarget): Promise<Figures> {
  const client = context.create();
  const cost = await measure(1, async () => {
    await client.connect(target);
    await client.call("echo", { text: "hello" });
  });
  const total = (performance.timeOrigin + performance.now() - context.task.spawned) * 1_000;
  await client.close();
  return { ...cost, total };
}

/** Starting a local server, and its tools listed. */
export async function discover(context: CellContext, target: BenchTarget): Promise<Figures> {
  const client = context.create();
  const cost = await measure(1, async () => {
    await client.connect(target);
    await client.list();
  });
  await client.close();
  return { ...cost };
}

/** Loading a library: reading, compiling and running its module. */
export async function importLibrary(path: string): Promise<Figures> {
  return { ...(await measure(1, () => import(pathToFileURL(path).href))) };
}
