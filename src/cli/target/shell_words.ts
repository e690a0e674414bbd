/**
 * A command line in one text, split like the words of a POSIX shell. No shell ever sees it: nothing is expanded, no
 * pipe, no redirection.
 *
 * @module
 */

/** The words of a text, or what it ends in that is not closed. */
export type ShellWords = { readonly words: string[] } | { readonly open: string };

/**
 * Splits a text into words at white space, as a POSIX shell does: `'…'` keeps everything, in `"…"` a backslash keeps
 * `"`, `\`, `$` and `` ` ``, outside it keeps any character.
 */
export function readShellWords(text: string): ShellWords {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\\" && quote !== "'") {
      const next = text.charAt(++at);
      if (next === "") return { open: "a backslash" };
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
  if (quote !== "") return { open: `an open ${quote}` };
  if (word !== undefined) words.push(word);
  return { words };
}
