/**
 * What is still held by something: for tests of what grows.
 *
 * @module
 */
import process from "node:process";
import v8 from "node:v8";
import vm from "node:vm";

/** Collects the garbage at once. */
function collect(): void {
  const { Bun } = globalThis as { Bun?: { gc(now: boolean): void } };
  if (Bun) return Bun.gc(true);
  v8.setFlagsFromString("--expose-gc");
  // Contexts that were there before the flag do not have it.
  (vm.runInNewContext("gc") as () => void)();
}

/** How many bytes are in use, once the garbage was collected. */
export async function bytesInUse(): Promise<number> {
  await countAlive([]);
  return process.memoryUsage().heapUsed;
}

/** How many of these are still there, once the garbage was collected. */
export async function countAlive(items: readonly WeakRef<object>[]): Promise<number> {
  // What was looked at is held until the turn ends.
  for (let turn = 0; turn < 3; turn++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    collect();
  }
  return items.filter((item) => item.deref()).length;
}
