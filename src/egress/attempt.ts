/**
 * What watches and is told, kept from doing harm.
 *
 * @module
 */

/** What `work` gives; undefined when it throws: whoever watches must not break what is watched. */
export function attempt<Value>(work: () => Value): Value | undefined {
  try {
    const value = work();
    // An async function passes for one that gives nothing.
    if (value instanceof Promise) value.catch(() => {});
    return value;
  } catch {
    // There is nobody left to tell.
    return undefined;
  }
}
