/**
 * Which tools a model may have meant.
 *
 * @module
 */

/** How alike names have to be, from 0 to 1. */
const least = 0.4;

/**
 * The names that share the most pairs of letters with what was written, the nearest first.
 *
 * @param most How many, at most.
 */
export function nearestNames(written: string, names: Iterable<string>, most = 3): string[] {
  const wanted = fold(written);
  const found: { name: string; likeness: number }[] = [];
  for (const name of names) {
    const folded = fold(name);
    // The tool's own name counts: a model often leaves the server out, or writes another one. The rest parts equals.
    const own = folded.slice(folded.indexOf("__") + 1);
    const likeness = Math.max(alike(wanted, own), alike(tail(wanted), own));
    if (likeness >= least) found.push({ name, likeness: likeness + alike(wanted, folded) / 100 });
  }
  found.sort((left, right) => right.likeness - left.likeness);
  return found.slice(0, most).map(({ name }) => name);
}

function fold(text: string): string {
  return text.slice(0, 200).toLowerCase().replace(/[^\p{L}\p{N}_]/gu, "_");
}

function tail(text: string): string {
  return text.slice(Math.max(text.indexOf("__") + 1, 0));
}

/** Twice the pairs that both have, over all pairs. */
function alike(left: string, right: string): number {
  const pairs = new Map<string, number>();
  for (const pair of pairsOf(left)) pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  let both = 0;
  let all = 0;
  for (const count of pairs.values()) all += count;
  for (const pair of pairsOf(right)) {
    const count = pairs.get(pair) ?? 0;
    all++;
    if (count > 0) both++;
    pairs.set(pair, count - 1);
  }
  return (2 * both) / all;
}

function* pairsOf(text: string): Iterable<string> {
  const framed = `_${text.replace(/_+/g, "_").replace(/^_|_$/g, "")}_`;
  for (let at = 0; at + 1 < framed.length; at++) yield framed.slice(at, at + 2);
}
