/** What `work` gives; undefined when it throws: whoever watches must not break what is watched. */
export function attempt<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
