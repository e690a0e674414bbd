/**
 * What a transaction may give.
 *
 * @module
 */
import { isPromise } from "../../protocol/promise.ts";

/**
 * Looks at what a transaction gave.
 *
 * @throws {TypeError} When it is a promise: its work would go on outside of the transaction.
 */
export function checkValue<Value>(value: Value): Value {
  if (!isPromise(value)) return value;
  value.then(undefined, () => {});
  throw new TypeError("A transaction does its work at once, and this one gave a promise");
}
