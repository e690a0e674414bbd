/**
 * When what was given to somebody ends.
 *
 * @module
 */

/**
 * The end of what is begun now, and is not good for longer than what it was begun with. It is written as JSON, which has no word for
 * what never ends.
 *
 * @param lifetime In milliseconds; `Infinity` is taken.
 * @param most When what it was begun with ends, in milliseconds since 1970.
 */
export function endOf(now: number, lifetime: number, most: number = Infinity): number {
  return Math.min(now + lifetime, most, Number.MAX_SAFE_INTEGER);
}
