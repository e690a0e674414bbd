/**
 * Changes members of a JSON text with comments, and leaves all else as it is: comments, order and spaces.
 *
 * @module
 */
import { parseJsonc } from "../../hub/config/jsonc.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonValue } from "../../protocol/json_rpc.ts";
import { UsageError } from "../failure.ts";

/** Where a member of an object stands. */
interface Member {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** An object in the text. */
interface Located {
  readonly open: number;
  readonly close: number;
  readonly members: readonly Member[];
}

/**
 * The text with another value at a path; undefined takes the member out.
 *
 * @param path The names that lead to it. All but the last have to be there.
 * @throws {UsageError} When the text cannot be changed without harm.
 */
export function editJson(text: string, path: readonly string[], value: JsonValue | undefined): string {
  const parents = path.slice(0, -1);
  const name = path.at(-1) ?? "";
  if (value !== undefined) return putJson(text, parents, new Map([[name, value]]));
  const object = locate(text, parents);
  const found = object?.members.find((member) => member.name === name);
  if (!object || !found) throw unclear();
  const edited = removed(text, object, found);
  check(edited, expectedOf(text, parents, new Map([[name, value]])));
  return edited;
}

/**
 * The text with these members in an object: each in the place of one of its name, else behind those that are there.
 *
 * @param path The names that lead to the object, which has to be there.
 * @throws {UsageError} When the text cannot be changed without harm.
 */
export function putJson(text: string, path: readonly string[], values: ReadonlyMap<string, JsonValue>): string {
  const object = locate(text, path);
  if (!object) throw unclear();
  const fresh = new Map(values);
  const there = object.members.filter(({ name }) => fresh.delete(name));
  const parts: string[] = [];
  let from = 0;
  for (const { name, start, valueStart, valueEnd } of there) {
    parts.push(text.slice(from, valueStart), written(text, values.get(name) ?? null, indentAt(text, start)));
    from = valueEnd;
  }
  const edited = parts.join("") + text.slice(from);
  const rest = there.length > 0 ? locate(edited, path) : object;
  const whole = fresh.size > 0 ? added(edited, rest ?? never(), fresh) : edited;
  check(whole, expectedOf(text, path, values));
  return whole;
}

function locate(text: string, path: readonly string[]): Located | undefined {
  let object = objectAt(text, skipSpace(text, text.startsWith("\uFEFF") ? 1 : 0));
  for (const name of path) {
    const member = object?.members.findLast((one) => one.name === name);
    object = member && objectAt(text, member.valueStart);
  }
  return object;
}

function added(
  text: string,
  { open, close, members }: Located,
  what: ReadonlyMap<string, JsonValue>,
): string {
  const last = members.at(-1);
  const indent = last ? indentAt(text, last.start) : indentAt(text, open) + "  ";
  const end = text.slice(0, close).trimEnd().length;
  const hasComma = last !== undefined && text[skipSpace(text, last.valueEnd)] === ",";
  const head = last && !hasComma
    ? text.slice(0, last.valueEnd) + "," + text.slice(last.valueEnd, end)
    : text.slice(0, end);
  const outer = indentAt(text, open);
  const made = [...what].map(([name, value]) => `${JSON.stringify(name)}: ${written(text, value, indent)}`);
  const isOneLine = last && ![...what.values()].some(isObject) && !text.slice(open, close).includes("\n");
  if (isOneLine) return `${head} ${made.join(", ")}${text.slice(end)}`;
  const line = lineEnd(text);
  return `${head}${line}${indent}${made.join(`,${line}${indent}`)}${line}${outer}${text.slice(close)}`;
}

function removed(text: string, { open, members }: Located, member: Member): string {
  const at = members.indexOf(member);
  const before = members[at - 1];
  const after = skipSpace(text, member.valueEnd);
  const hasComma = text[after] === ",";
  const end = hasComma ? after + 1 : member.valueEnd;
  const start = text.slice(0, member.start).trimEnd().length;
  const isOwnLine = text.slice(start, member.start).includes("\n");
  const rest = text.slice(end).replace(/^[ \t]+(?=\r?\n)/, "");
  // What follows on its line must not come behind a comment that ends with the line before.
  const isInLine = before && !hasComma && !isOwnLine && /^[ \t]/.test(rest);
  const head = text.slice(0, isInLine || (isOwnLine && /^\s*(?:\n|\/\/)/.test(rest)) ? start : member.start);
  const kept = head + rest;
  if (hasComma || !before) return kept;
  // A comma that nothing follows any more.
  const comma = skipSpace(text, before.valueEnd);
  return comma > open && kept[comma] === "," ? kept.slice(0, comma) + kept.slice(comma + 1) : kept;
}

function written(text: string, value: JsonValue, indent: string): string {
  return JSON.stringify(value, undefined, 2).replaceAll("\n", lineEnd(text) + indent);
}

/** How lines end in the text. */
function lineEnd(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1))?.[0] ?? "";
}

function objectAt(text: string, open: number): Located | undefined {
  if (text[open] !== "{") return undefined;
  const members: Member[] = [];
  let at = skipSpace(text, open + 1);
  while (text[at] === '"') {
    const start = at;
    const nameEnd = valueEndAt(text, at);
    const valueStart = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const valueEnd = valueEndAt(text, valueStart);
    members.push({ name: String(JSON.parse(text.slice(start, nameEnd))), start, valueStart, valueEnd });
    at = skipSpace(text, valueEnd);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return text[at] === "}" ? { open, close: at, members } : undefined;
}

/** Where a value ends: the text is known to be well formed. */
function valueEndAt(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at = skipSpace(text, at)) {
    const next = text[at];
    if (next === '"') {
      at = stringEnd(text, at);
    } else if (next === "{" || next === "[") {
      depth++;
      at++;
      continue;
    } else if (next === "}" || next === "]") {
      depth--;
      at++;
    } else if (next === "," || next === ":") {
      at++;
      continue;
    } else at += /^[^\s,:{}[\]"/]+/.exec(text.slice(at, at + 64))?.[0].length ?? 1;
    if (depth === 0) return at;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function skipSpace(text: string, from: number): number {
  const space = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
  space.lastIndex = from;
  return from + (space.exec(text)?.[0].length ?? 0);
}

function expectedOf(
  text: string,
  path: readonly string[],
  values: ReadonlyMap<string, JsonValue | undefined>,
): unknown {
  const root = valueOf(text);
  let object: unknown = root;
  for (const name of path) object = isObject(object) ? object[name] : undefined;
  if (!isObject(object)) throw unclear();
  for (const [name, value] of values) {
    if (value === undefined) delete object[name];
    else object[name] = value;
  }
  return root;
}

/** Nothing else may have changed. */
function check(edited: string, expected: unknown): void {
  if (JSON.stringify(valueOf(edited)) !== JSON.stringify(expected)) throw unclear();
}

function valueOf(text: string): unknown {
  const result = parseJsonc(text);
  if ("fault" in result || result.repeated.length > 0) throw unclear();
  return result.value;
}

function unclear(): UsageError {
  return new UsageError("Cannot change the config without harm to what else is in it: change it by hand");
}

function never(): never {
  throw unclear();
}
