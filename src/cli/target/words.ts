/**
 * A command line in one text, split like the words of a POSIX shell. No shell ever sees it: nothing is expanded, no
 * pipe, no redirection.
 *
 * @module
 */
import { UsageError } from "../failure.ts";

/**
 * Splits a text into words at white space, as a POSIX shell does: `'…'` keeps everything, in `"…"` a backslash keeps
 * `"`, `\`, `$` and `` ` ``, outside it keeps any character.
 *
 * @throws {UsageError} When a quote is not closed, or the last character is a lone backslash.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") {
      const next = text.charAt(++at);
      if (next === "") throw unfinished(text, "a backslash");
      const kept = quote === "" || ['"', "\\", "$", "`"].includes(next);
      if (next !== "\n") word = (word ?? "") + (kept ? next : character + next);
    } else if (quote !== "") {
      if (character === quote) quote = "";
      else word += character;
    } else if (character === "'" || character === '"') {
      quote = character;
      word ??= "";
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + character;
  }
  if (quote !== "") throw unfinished(text, `an open ${quote}`);
  if (word !== undefined) words.push(word);
  return words;
}

function unfinished(text: string, what: string): UsageError {
  return new UsageError(`Cannot read the command ${JSON.stringify(text)}: it ends in ${what}; close the quotes`);
}
