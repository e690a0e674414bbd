/** Cells about what a client does, rather than how fast: round trips, answers to faults, calls that succeed. */
import process from "node:process";
import type { BenchEra, BenchTarget } from "../clients/client.ts";
import type { CellContext, Figures } from "../task.ts";

/** How long a client that does not notice a fault may wait, in milliseconds. */
const patience = 1_000;

/**
 * Round trips to the first result, as the server counts them: `…_trips` is the longest chain of requests that waited for
 * each other, `…_posts` is how many there were.
 */
export async function countTrips(context: CellContext): Promise<Figures> {
  const cases: readonly (readonly [string, BenchEra, string])[] = [
    ["known_modern", "modern", "modern"],
    ["unknown_modern", "auto", "modern"],
    ["known_legacy", "legacy", "legacy"],
    ["unknown_legacy", "auto", "legacy"],
  ];
  const figures: Record<string, number> = {};
  for (const [name, era, accepts] of cases) {
    const key = `${name}_${process.pid}`;
    const client = context.create();
    await client.connect(context.http(era, "json", `${accepts}/${key}?delay=10`));
    await client.call("echo", { text: "hello" });
    const { trips, posts } = await countOf(context, key);
    figures[`${name}_trips`] = trips;
    figures[`${name}_posts`] = posts;
    await client.close();
  }
  return figures;
}

/**
 * Milliseconds from a fault to the rejection of the call that it hit. `repeated` is how many of the broken calls reached
 * the server once more: each may have run already.
 */
export async function breakAll(context: CellContext): Promise<Figures> {
  const figures: Record<string, number> = {};
  let repeated = 0;
  const faults = [
    ["sse", "end"],
    ["sse", "reset"],
    ["sse", "garbage"],
    ["json", "reset"],
    ["json", "end"],
  ] as const;
  for (const [reply, how] of faults) {
    const key = `${reply}_${how}_${process.pid}`;
    const strike = async () => {
      const response = await fetch(`${context.task.origin}/break/${key}/${how}`, { method: "POST" });
      await response.text();
    };
    figures[`${reply}_${how}`] = await timeFault(context, context.http("modern", reply, `both/${key}`), strike);
    // Two calls: the one that asks for the process id, and the one that hangs.
    repeated += (await countOf(context, key)).posts - 2;
  }
  figures["repeated"] = repeated;
  figures["kill"] = await timeFault(context, context.stdio("legacy"), (pid) => {
    process.kill(pid, "SIGKILL");
    return Promise.resolve();
  });
  return figures;
}

/** What the server counted under a key. */
async function countOf({ task }: CellContext, key: string): Promise<{ trips: number; posts: number }> {
  const response = await fetch(`${task.origin}/count/${key}`);
  return await response.json();
}

async function timeFault(
  context: CellContext,
  target: BenchTarget,
  strike: (pid: number) => Promise<void>,
): Promise<number> {
  const client = context.create();
  await client.connect(target);
  const pid = Number(await client.call("pid", {}));
  const call = client.call("hang", {}, { timeout: patience }).then(
    () => Promise.reject(new Error("a call that hangs was answered")),
    () => performance.now(),
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  const started = performance.now();
  await strike(pid);
  const rejected = await call;
  await client.close();
  return rejected - started;
}

/** A hundred calls on each binding, all in flight: how many gave the right answer. */
export async function callHundred(context: CellContext): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (
    const [name, target] of [
      ["http", context.http("modern")],
      ["stdio", context.stdio("legacy")],
    ] as const
  ) {
    const client = await context.ready(target);
    const texts = Array.from({ length: 100 }, (_, index) => `call ${index}`);
    const results = await Promise.allSettled(texts.map((text) => client.call("echo", { text })));
    figures[name] = results.filter(
      (result, index) => result.status === "fulfilled" && result.value === texts[index],
    ).length;
    await client.close();
  }
  return figures;
}
