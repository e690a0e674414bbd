/**
 * What watches and is told, kept from doing harm.
 *
 * @module
 */
import { isPromise } from "../protocol/promise.ts";

/** An async function passes for one that gives nothing: that it fails later is nobody's failure. */
export function forgive(value: unknown): void {
  if (isPromise(value)) value.then(undefined, () => {});
}

/** What `work` gives; undefined when it throws: whoever watches must not break what is watched. */
export function attempt<Value>(work: () => Value): Value | undefined {
  try {
    const value = work();
    forgive(value);
    return value;
  } catch {
    // There is nobody left to tell.
    return undefined;
  }
}
