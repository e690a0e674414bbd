/**
 * What a transaction may give.
 *
 * @module
 */

/**
 * Looks at what a transaction gave.
 *
 * @throws {TypeError} When it is a promise: its work would go on outside of the transaction.
 */
export function checkValue<Value>(value: Value): Value {
  if (!(value instanceof Promise)) return value;
  value.catch(() => {});
  throw new TypeError("A transaction does its work at once, and this one gave a promise");
}
