/**
 * What keeps checks from taking too long.
 *
 * @module
 */

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
