/**
 * Directives as people write them: `call server.tool key=value`, `say some text`, and `then`.
 *
 * @module
 */
import { type Piece, readPiece } from "../../../protocol/arguments/piece.ts";

/** A call that somebody wrote down. */
export interface CallDirective {
  /** Which line of the message, from 1. */
  readonly line: number;
  /** What the tool is called there: `server.tool`, `server__tool`, or a name of its own. */
  readonly tool: string;
  readonly pieces: readonly Piece[];
}

/** One turn: what is said, and the calls that are asked for together. */
export interface DirectiveTurn {
  readonly says: readonly string[];
  readonly calls: readonly CallDirective[];
}

/** What a message asks for. */
export interface Directives {
  /** In order. What was said behind the calls of a block is the next turn's. */
  readonly turns: readonly DirectiveTurn[];
  /** What is wrong, a line each. */
  readonly faults: readonly string[];
  /** Lines that are no directives, by their numbers. */
  readonly others: readonly number[];
}

/**
 * Reads a message. A blank line or `then` ends a block; the calls of a block belong together. Lines that begin with `#` are
 * notes. Undefined where there is no directive in it.
 */
export function readDirectives(text: string): Directives | undefined {
  const faults: string[] = [];
  const others: number[] = [];
  const turns: DirectiveTurn[] = [];
  let says: string[] = [];
  let calls: CallDirective[] = [];
  let after: string[] = [];
  let any = false;
  const end = () => {
    if (calls.length > 0) turns.push({ says, calls });
    says = calls.length > 0 ? after : says;
    calls = [];
    after = [];
  };
  for (const [index, written] of text.split(/\r\n|\r|\n/).entries()) {
    const line = written.trim();
    const [, verb = "", rest = ""] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    const word = verb.toLowerCase();
    if (line === "" || (word === "then" && rest === "")) end();
    else if (word === "say") {
      any = true;
      if (rest === "") faults.push(`Line ${index + 1}: "say" has nothing to say; write say some text`);
      (calls.length > 0 ? after : says).push(rest);
    } else if (word === "call") {
      any = true;
      const call = readCall(rest, index + 1);
      if (typeof call === "string") faults.push(`Line ${index + 1}: ${call}`);
      else calls.push(call);
    } else if (!line.startsWith("#")) others.push(index + 1);
  }
  end();
  if (says.length > 0) turns.push({ says, calls: [] });
  return any ? { turns, faults, others } : undefined;
}

/** A call, or what is wrong with it. */
function readCall(text: string, line: number): CallDirective | string {
  const [, tool = "", rest = ""] = /^(\S+)(.*)$/s.exec(text) ?? [];
  if (tool === "") return '"call" names no tool; write call server.tool key=value';
  if (tool.includes("=") || tool.startsWith("{")) return `"${tool}" is no tool; write call server.tool key=value`;
  const pieces: Piece[] = [];
  try {
    for (const word of splitArguments(rest)) {
      const piece = readPiece(word);
      if (!piece) {
        return `cannot read the argument ${JSON.stringify(word)}; write key=value, key:=json or a JSON object`;
      }
      pieces.push(piece);
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return error.message;
  }
  return { line, tool, pieces };
}

/**
 * Splits what stands behind the tool's name at white space. A JSON value goes to its own end, and a value in quotes to the
 * closing one: `text="a b"`, `text='a b'`, `list:=[1, 2]`.
 *
 * @throws {TypeError} When a quote or a JSON value has no end.
 */
export function splitArguments(text: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text.charAt(at))) {
      at++;
      continue;
    }
    const key = /^[^\s={"']*:?=/.exec(text.slice(at))?.[0] ?? "";
    const from = at + key.length;
    if (key.endsWith(":=") || text.charAt(at) === "{") at = endOfJson(text, from);
    else if (key !== "" && /["']/.test(text.charAt(from))) {
      const { value, end } = readQuoted(text, from);
      words.push(key + value);
      at = end;
      continue;
    } else at = endOfWord(text, from);
    words.push(text.slice(from - key.length, at));
  }
  return words;
}

function endOfWord(text: string, from: number): number {
  const found = text.slice(from).search(/\s/);
  return found < 0 ? text.length : from + found;
}

/** Behind the value that begins here: its brackets are closed, and white space or nothing follows. */
function endOfJson(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') at = readQuoted(text, at).end - 1;
    else if (/[[{]/.test(character)) depth++;
    else if (/[\]}]/.test(character)) depth--;
    else if (depth <= 0 && /\s/.test(character)) return at;
  }
  if (depth > 0) {
    throw new TypeError(`the JSON that begins with ${JSON.stringify(text.slice(from, from + 20))} has no end`);
  }
  return text.length;
}

/** A text in quotes. A backslash before a quote or a backslash takes its meaning away; `\n` is a line end. */
function readQuoted(text: string, from: number): { value: string; end: number } {
  const quote = text.charAt(from);
  let value = "";
  for (let at = from + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === quote) return { value, end: at + 1 };
    const next = text.charAt(at + 1);
    if (character === "\\" && (next === quote || next === "\\" || next === "n")) {
      value += next === "n" ? "\n" : next;
      at++;
    } else value += character;
  }
  throw new TypeError(`the quote that begins with ${JSON.stringify(text.slice(from, from + 20))} has no end`);
}
