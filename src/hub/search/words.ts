/**
 * Words of names and of sentences, in any script: `createIssue`, `create_issue` and "Creates an issue" have words in common.
 *
 * @module
 */

/** Runs of letters and digits, with marks: what `_`, `-`, spaces and signs part. */
const runs = /[\p{L}\p{N}\p{M}]+/gu;
/** The parts of a run: `HTTPServer2` has `HTTP`, `Server` and `2`. Letters without case are one part. */
const parts = /\p{Lu}+(?!\p{Ll})|[\p{Lu}\p{Lt}]?[\p{Ll}\p{M}]+|\p{N}+|[\p{Lo}\p{Lm}\p{M}]+|\p{L}/gu;
/** Scripts that put no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/**
 * The words of a text in lower case, in their order, with repetitions. A run that has parts gives the parts and itself; one
 * without spaces, as in Chinese, gives each two neighbours. The plural of an English word is its singular.
 *
 * @param most How many characters are looked at.
 * @param known What runs came to before: many texts have most of them in common.
 */
export function wordsOf(text: string, most: number, known: Map<string, readonly string[]> = new Map()): string[] {
  const words: string[] = [];
  const short = text.slice(0, most);
  // NFKC makes full-width letters usual ones, and a letter and its accent one.
  for (const run of (isAscii(short) ? short : short.normalize("NFKC")).match(runs) ?? []) {
    let found = known.get(run);
    if (!found) known.set(run, found = wordsOfRun(run));
    for (const word of found) words.push(word);
  }
  return words;
}

function wordsOfRun(run: string): string[] {
  const lower = run.toLowerCase();
  // Most runs are one word in lower case.
  if (/^[a-z]+$/.test(run)) return [singular(run)];
  const words: string[] = [];
  let count = 0;
  for (const part of run.match(parts) ?? []) {
    count++;
    if (unspaced.test(part)) addNeighbours(part, words);
    else words.push(singular(part.toLowerCase()));
  }
  if (count > 1) words.push(singular(lower));
  return words;
}

function addNeighbours(part: string, words: string[]): void {
  const letters = [...part];
  if (letters.length === 1) words.push(part);
  for (let at = 1; at < letters.length; at++) words.push(`${letters[at - 1]}${letters[at]}`);
}

function singular(word: string): string {
  if (word.length < 4 || !word.endsWith("s") || /[su]s$|is$/.test(word)) return word;
  return word.endsWith("ies") && word.length > 4 ? word.slice(0, -3) + "y" : word.slice(0, -1);
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
