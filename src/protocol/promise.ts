/**
 * What is there later.
 *
 * @module
 */

/**
 * Whether a value comes later: a promise of any kind. `instanceof` knows none of another realm, and none at all that an async
 * function gives where a library has put a class of its own in the place of `Promise` (zone.js).
 */
export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof (value as Partial<Promise<Value>> | null | undefined)?.then === "function";
}

/** What `next` makes of a value: at once where that is there, else later. */
export function after<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return isPromise(value) ? Promise.resolve(value).then(next) : next(value);
}
