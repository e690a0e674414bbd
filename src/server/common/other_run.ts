/**
 * The methods of a server, of which one is looked at on its way.
 *
 * @module
 */
import type { Methods } from "../seam.ts";

const same = ["capabilities", "tool", "task", "watch", "watched", "heard"] as const;

/**
 * The same methods with another `run`.
 *
 * @param cache How long and for whom results are good, where that is another thing too.
 */
export function withRun(methods: Methods, run: Methods["run"], cache: Methods["cache"] = methods.cache): Methods {
  const { info, instructions } = methods;
  const bound = Object.fromEntries(same.map((name) => [name, methods[name]?.bind(methods)]));
  return { info, instructions, cache, run, ...bound as unknown as Pick<Methods, typeof same[number]> };
}
