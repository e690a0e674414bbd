/**
 * Chance from a seed, and how much of a long test is run.
 *
 * @module
 */

/** Numbers from a seed: the same seed is the same test. */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below a bound. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }

  /** One of some. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("Cannot pick from nothing");
    return item;
  }
}

/** Whether a long test is to be run whole, by a variable of the environment. Workers have none: there it is the short form. */
export function isFull(variable: string): boolean {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[variable] === "full";
}
