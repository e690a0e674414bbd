/**
 * JSON as people write it in configs: comments, and commas before a closing bracket. All else is as strict as `JSON.parse`,
 * in one pass, and what is wrong has a line and a column that are the same on every runtime.
 *
 * @module
 */
import type { JsonValue } from "../../protocol/json_rpc.ts";

/** Where something stands; both count from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A name that stands twice in one object: its last value counts, as for `JSON.parse`. */
export interface RepeatedName extends Place {
  /** The names (and places in lists) that lead to it. */
  readonly path: readonly string[];
}

/** What a text holds, or why it cannot be read. */
export type JsoncResult =
  | { readonly value: JsonValue; readonly repeated: readonly RepeatedName[] }
  | { readonly fault: Place & { readonly what: string } };

const deepest = 100;
const mostRepeated = 100;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// deno-lint-ignore no-control-regex
const plainText = /[^"\\\u0000-\u001f]*/y;
const space = /[ \t\r\n]*/y;
const line = /[^\r\n]*/y;
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
const words: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([["true", true], ["false", false], [
  "null",
  null,
]]);

/** Reads a text. It never throws; names such as `__proto__` become plain properties. */
export function parseJsonc(text: string): JsoncResult {
  const reader = new Reader(text);
  try {
    const value = reader.document();
    return { value, repeated: locate(text, reader.repeated) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: { ...placeOf(text, error.at), what: error.message } };
  }
}

class Fault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

class Reader {
  readonly repeated: { path: readonly string[]; at: number }[] = [];
  readonly #text: string;
  readonly #path: string[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonValue {
    if (this.#text.startsWith("\uFEFF")) this.#at++;
    this.#skip();
    if (this.#at === this.#text.length) throw new Fault(this.#at, "there is nothing in it: expected an object");
    const value = this.#value();
    this.#skip();
    if (this.#at < this.#text.length) throw this.#found("nothing more");
    return value;
  }

  #value(): JsonValue {
    const next = this.#text[this.#at];
    if (next === '"') return this.#string();
    if (next === "{" || next === "[") {
      if (this.#path.length === deepest) throw new Fault(this.#at, `it nests deeper than ${deepest}: make it flatter`);
      return next === "{" ? this.#object() : this.#list();
    }
    const digits = this.#match(number);
    if (digits !== "") return Number(digits);
    for (const [word, value] of words) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    throw this.#found('a text in double quotes, a number, true, false, null, "{" or "["');
  }

  #object(): JsonValue {
    const entries = new Map<string, JsonValue>();
    this.#at++;
    for (this.#skip(); this.#text[this.#at] !== "}"; this.#separator("}")) {
      if (this.#text[this.#at] !== '"') throw this.#found('a name in double quotes, or "}"');
      const at = this.#at;
      const name = this.#string();
      this.#path.push(name);
      if (entries.has(name) && this.repeated.length < mostRepeated) this.repeated.push({ path: [...this.#path], at });
      this.#skip();
      if (this.#text[this.#at] !== ":") throw this.#found('":" after the name');
      this.#at++;
      this.#skip();
      entries.set(name, this.#value());
      this.#path.pop();
    }
    this.#at++;
    return Object.fromEntries(entries);
  }

  #list(): JsonValue {
    const items: JsonValue[] = [];
    this.#at++;
    for (this.#skip(); this.#text[this.#at] !== "]"; this.#separator("]")) {
      this.#path.push(String(items.length));
      items.push(this.#value());
      this.#path.pop();
    }
    this.#at++;
    return items;
  }

  #separator(end: string): void {
    this.#skip();
    if (this.#text[this.#at] === ",") this.#at++;
    else if (this.#text[this.#at] !== end) throw this.#found(`"," or "${end}"`);
    this.#skip();
  }

  #string(): string {
    const start = this.#at++;
    let result = "";
    for (;;) {
      result += this.#match(plainText);
      const next = this.#text[this.#at];
      if (next === undefined) throw new Fault(start, "this text is not closed: expected a double quote at its end");
      if (next === '"') break;
      if (next === "\n" || next === "\r") {
        throw new Fault(start, "this text is not closed on its line: expected a double quote, or \\n for a line break");
      }
      if (next !== "\\") throw this.#found("no control characters in a text; write them as \\u0000");
      result += this.#escape();
    }
    this.#at++;
    return result;
  }

  #escape(): string {
    const kind = this.#text[this.#at + 1] ?? "";
    const digits = kind === "u" ? this.#text.slice(this.#at + 2, this.#at + 6) : "";
    const meant = /^[\da-f]{4}$/i.test(digits) ? String.fromCharCode(parseInt(digits, 16)) : escapes.get(kind);
    if (meant === undefined) {
      throw new Fault(
        this.#at,
        "this backslash begins nothing that JSON knows: expected \\\\ for the backslash itself",
      );
    }
    this.#at += 2 + digits.length;
    return meant;
  }

  /** White space and comments. */
  #skip(): void {
    for (;;) {
      this.#match(space);
      if (this.#text.startsWith("//", this.#at)) this.#match(line);
      else if (this.#text.startsWith("/*", this.#at)) {
        const end = this.#text.indexOf("*/", this.#at + 2);
        if (end < 0) throw new Fault(this.#at, "this comment is not closed: expected */");
        this.#at = end + 2;
      } else return;
    }
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #found(expected: string): Fault {
    const code = this.#text.codePointAt(this.#at);
    const found = code === undefined
      ? "the end"
      : code > 32 && code < 127
      ? JSON.stringify(String.fromCodePoint(code))
      : "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    return new Fault(this.#at, `found ${found}: expected ${expected}`);
  }
}

function placeOf(text: string, at: number, from: Place & { at: number } = { line: 1, column: 1, at: 0 }): Place {
  let line = from.line;
  let start = from.at - from.column + 1;
  for (let next = text.indexOf("\n", from.at); next >= 0 && next < at; next = text.indexOf("\n", next + 1)) {
    line++;
    start = next + 1;
  }
  return { line, column: at - start + 1 };
}

function locate(text: string, repeated: readonly { path: readonly string[]; at: number }[]): RepeatedName[] {
  let last = { line: 1, column: 1, at: 0 };
  return repeated.map(({ path, at }) => {
    // They were found on one way through the text, so places only grow.
    last = { ...placeOf(text, at, last), at };
    return { path, line: last.line, column: last.column };
  });
}
