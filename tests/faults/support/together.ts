/**
 * Many small cases at once. Each waits for turns of the event loop most of the time, so that together they take little
 * longer than one; each keeps a test of its own, with its name and its failure.
 *
 * @module
 */

/**
 * Takes cases by name. The first that is asked for starts them all (a Worker may do nothing before its first request);
 * each answer is that case's own.
 *
 * @param width How many run at a time.
 */
export function together(
  cases: ReadonlyMap<string, () => Promise<void>>,
  width: number = 400,
): (name: string) => Promise<void> {
  let results: Map<string, Promise<void>> | undefined;
  return async (name) => {
    results ??= start(cases, width);
    await results.get(name);
  };
}

function start(cases: ReadonlyMap<string, () => Promise<void>>, width: number): Map<string, Promise<void>> {
  const results = new Map<string, Promise<void>>();
  const lanes: Promise<void>[] = Array.from({ length: width }, () => Promise.resolve());
  let next = 0;
  for (const [name, run] of cases) {
    const lane = next++ % width;
    const result = (lanes[lane] ?? Promise.resolve()).then(run);
    lanes[lane] = result.catch(() => {}); // its own test tells of it
    results.set(name, result);
  }
  return results;
}
