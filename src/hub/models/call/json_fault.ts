/**
 * Where a text stops being JSON: the same on every runtime, whose own words differ.
 *
 * @module
 */

/** What is wrong at one place of a text. */
export interface JsonFault {
  /** How many characters are before it. */
  readonly at: number;
  /** What would be right there. */
  readonly expected: string;
}

type State = "value" | "first value" | "name" | "first name" | "colon" | "next" | "end";

const wanted: Readonly<Record<State, string>> = {
  value: "a value",
  "first value": 'a value or "]"',
  name: "a name in double quotes",
  "first name": 'a name in double quotes or "}"',
  colon: '":"',
  next: '"," or a closing bracket',
  end: "nothing more",
};
const blank = /[ \t\r\n]*/y;
const word = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/**
 * Looks for the first place at which a text is not JSON. For texts that `JSON.parse` has refused.
 *
 * @returns Undefined when the text is JSON.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: string[] = [];
  let state: State = "value";
  let at = match(blank, text, 0);
  while (at < text.length) {
    const character = text[at] ?? "";
    const isValue: boolean = state === "value" || state === "first value";
    const isName: boolean = state === "name" || state === "first name";
    const close: string = open.at(-1) === "{" ? "}" : "]";
    let next = at + 1;
    if (character === '"' && (isValue || isName)) {
      const end = endOfString(text, at);
      if (typeof end !== "number") return end;
      next = end;
      state = isName ? "colon" : after(open);
    } else if (isValue && (character === "{" || character === "[")) {
      open.push(character);
      state = character === "{" ? "first name" : "first value";
    } else if (character === ":" && state === "colon") state = "value";
    else if (character === "," && state === "next") state = close === "}" ? "name" : "value";
    else if (character === close && (state === "next" || state === "first name" || state === "first value")) {
      open.pop();
      state = after(open);
    } else {
      next = isValue ? match(word, text, at) : at;
      if (next === at) return { at, expected: state === "next" ? `"," or "${close}"` : wanted[state] };
      state = after(open);
    }
    at = match(blank, text, next);
  }
  if (state === "end") return undefined;
  const close = open.at(-1) === "{" ? "}" : "]";
  return { at, expected: state === "next" ? `"," or "${close}"` : wanted[state] };
}

/** What may follow a value. */
function after(open: readonly string[]): State {
  return open.length > 0 ? "next" : "end";
}

/** Where a string ends that begins at a place. */
function endOfString(text: string, from: number): number | JsonFault {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code < 32) return { at, expected: "control characters of texts as escapes, such as \\n" };
    if (code !== 92) continue;
    const escaped = text.slice(at + 1, at + 6);
    if (/^["\\/bfnrt]/.test(escaped)) at++;
    else if (/^u[\da-fA-F]{4}/.test(escaped)) at += 5;
    else return { at, expected: "an escape of JSON" };
  }
  return { at: text.length, expected: "the end of the text that begins at character " + (from + 1) };
}

/** Where the run of a pattern ends that begins at a place: the place itself when there is none. */
function match(pattern: RegExp, text: string, at: number): number {
  const sticky = new RegExp(pattern.source, "y");
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : at;
}
