/**
 * What a handler may leave behind.
 *
 * @module
 */

/**
 * The promise itself, known to be looked at: a handler that leaves without waiting for it must not end the process when it
 * fails then.
 */
export function forgivable<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => {});
  return promise;
}
