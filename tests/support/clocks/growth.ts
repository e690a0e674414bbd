import { stopwatch } from "./stopwatch.ts";

/** So long it is measured again and again, in milliseconds: beside a load, the longer a work is, the rarer one is that nobody interrupts. */
const patience = 6_000;

/**
 * How many times as long four times as much takes: about 4 for work that grows with its amount, about 16 for work that grows with
 * the square of it. How fast the machine is, and what else it does, changes neither: both are measured in turn, and the quickest of
 * each counts. What takes less than 5 ms counts as that: some clocks are coarse (in Workers they tell milliseconds, and not those
 * of this program alone).
 *
 * @param amount The smaller one of the two.
 * @param prepare Makes the work of an amount ready. What it gives is what is measured.
 * @param enough It is measured again as long as it is not below this: six times, and for as long as `patience`.
 */
export async function growth(
  amount: number,
  prepare: (amount: number) => (() => unknown) | Promise<() => unknown>,
  enough = 8,
): Promise<number> {
  let [little, much] = [Infinity, Infinity];
  const end = performance.now() + patience;
  const isTried = (round: number): boolean => round >= 6 && performance.now() >= end;
  // Nothing is warm in the first round.
  for (let round = 0; round < 2 || (much > enough * little && !isTried(round)); round++) {
    little = Math.min(little, Math.max(5, await timed(await prepare(amount))));
    much = Math.min(much, await timed(await prepare(4 * amount)));
  }
  return much / little;
}

async function timed(work: () => unknown): Promise<number> {
  const took = stopwatch();
  await work();
  return took();
}
