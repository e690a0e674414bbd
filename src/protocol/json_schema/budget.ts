/**
 * What keeps checks from taking too long.
 *
 * @module
 */

/** How many issues are told, and how many reasons why something cannot be judged. */
export const ISSUES = 20;
/** How deep schemas may nest over all values; keeps the stack of every host whole. */
export const NESTING = 512;
/** How deep values may nest that are compared. */
export const DEPTH = 256;
/** How many states the patterns of one schema may need together. */
export const STATES = 10_000;
/** How deep the groups of a pattern may nest. */
export const GROUPS = 100;
/** How many states a Unicode property counts for: hosts take half a millisecond to find its characters. */
export const PROPERTY = 200;

/** How many steps are left. */
export interface Budget {
  steps: number;
}

/** What ends a check. No error: to make one while modules load, V8 reads the whole program a second time, for its stack. */
export const STOP: unique symbol = Symbol();

/** Takes steps from the budget; ends the check when none are left. */
export function spend(budget: Budget, steps: number): void {
  if ((budget.steps -= steps) < 0) throw STOP;
}
