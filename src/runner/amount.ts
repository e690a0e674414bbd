/**
 * Numbers that programs give as options.
 *
 * @module
 */

/**
 * Looks at a number. A text is none, as it comes from a variable of the environment: with a time it would make a longer text.
 *
 * @throws {RangeError} When it is none, or less than `least` (1).
 */
export function checkAmount(name: string, value: number, least = 1): number {
  if (typeof value === "number" && value >= least) return value;
  const shown = JSON.stringify(value) ?? String(value);
  throw new RangeError(`Cannot use "${name}": it is ${shown}, expected a number, ${least} or more`);
}
