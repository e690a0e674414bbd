/** Cells that measure how much a call costs. Each checks what came back: a wrong answer ends the run. */
import type { BenchClient, BenchTarget } from "../clients/client.ts";
import type { CellContext, Figures } from "../task.ts";
import { measure, measureTwice, peakMemory } from "./measure.ts";

const warmCalls = 200;
const width = 32;

/** One call after the other. */
export async function sequential(context: CellContext, target: BenchTarget, tool: string): Promise<Figures> {
  const client = await context.ready(target);
  const { count } = context.task;
  await callInTurn(client, tool, warmCalls);
  const cost = await measureTwice(count, (calls) => callInTurn(client, tool, calls));
  await client.close();
  return { ...cost };
}

/** Always 32 calls in flight. */
export async function inFlight(context: CellContext, target: BenchTarget, tool: string): Promise<Figures> {
  const client = await context.ready(target);
  const each = Math.ceil(context.task.count / width);
  const run = (calls: number) => Promise.all(Array.from({ length: width }, () => callInTurn(client, tool, calls)));
  await run(Math.ceil(each / 4));
  const { wall, ...cost } = await measureTwice(each * width, (calls) => run(calls / width));
  await client.close();
  return { ...cost, wall, rate: 1e6 / wall };
}

/** One call with 1,000 progress notices: `cold` after 3 calls, `wall` after 50. */
export async function progress(context: CellContext, target: BenchTarget): Promise<Figures> {
  const client = await context.ready(target);
  let heard = 0;
  const onProgress = () => void heard++;
  const run = async (calls: number) => {
    for (let index = 0; index < calls; index++) {
      const text = await client.call(
        "progress",
        { count: 1_000 },
        {
          onProgress,
        },
      );
      if (text !== "1000") throw new Error(`expected 1000, got ${text}`);
    }
  };
  await run(3);
  const { wall: cold } = await measure(10, () => run(10));
  await run(37);
  heard = 0;
  const cost = await measure(context.task.count, () => run(context.task.count));
  await client.close();
  return { ...cost, cold, heard: heard / context.task.count };
}

/** Results of so many MiB. `memory` is what the first one added to the peak of this process, in sizes of the message. */
export async function big(context: CellContext, target: BenchTarget, mebibytes: number): Promise<Figures> {
  const client = await context.ready(target);
  const run = async (calls: number) => {
    for (let index = 0; index < calls; index++) {
      const { length } = await client.call("big", { mebibytes });
      if (length !== mebibytes * 2 ** 20) {
        throw new Error(`expected ${mebibytes} MiB, got ${length} characters`);
      }
    }
  };
  await callInTurn(client, "echo", 20);
  const before = peakMemory();
  await run(1);
  const memory = (peakMemory() - before) / mebibytes;
  await run(2);
  const cost = await measure(context.task.count, () => run(context.task.count));
  await client.close();
  return { ...cost, memory };
}

async function callInTurn(client: BenchClient, tool: string, calls: number): Promise<void> {
  for (let index = 0; index < calls; index++) {
    const text = await client.call(tool, { text: "hello" });
    if (text !== "hello") throw new Error(`expected hello, got ${text}`);
  }
}
