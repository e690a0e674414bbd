/**
 * "Did you mean …?"
 *
 * @module
 */

/** ` (did you mean "echo"?)` when one of the names is near to what was written, else an empty text. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const found = nearest(written, names);
  return found === undefined ? "" : ` (did you mean "${found}"?)`;
}

/** The name that takes the fewest changes of a letter, if these are few; parts in another order count as near. */
export function nearest(written: string, names: Iterable<string>): string | undefined {
  const folded = fold(written);
  let best: string | undefined;
  let least = Math.max(2, Math.floor(folded.length / 3)) + 1;
  for (const name of names) {
    const other = fold(name);
    const changes = sorted(other) === sorted(folded) ? 0 : distance(folded, other, least);
    if (changes < least && changes < other.length) [best, least] = [name, changes];
  }
  return best;
}

function fold(text: string): string {
  return text.slice(0, 200).toLowerCase().replace(/[-_. ]+/g, "-");
}

function sorted(text: string): string {
  return text.split("-").sort().join("-");
}

/** The Levenshtein distance, or anything from `bound` on when it is that large. */
function distance(from: string, to: string, bound: number): number {
  if (Math.abs(from.length - to.length) >= bound) return bound;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? bound;
}
