/**
 * What watches and is told, kept from doing harm.
 *
 * @module
 */
import { isPromise } from "../protocol/promise.ts";

/** What `work` gives; undefined when it throws: whoever watches must not break what is watched. */
export function attempt<Value>(work: () => Value): Value | undefined {
  try {
    const value = work();
    // An async function passes for one that gives nothing.
    if (isPromise(value)) value.then(undefined, () => {});
    return value;
  } catch {
    // There is nobody left to tell.
    return undefined;
  }
}
