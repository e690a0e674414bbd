/**
 * The keywords that look at a value alone: sizes, equality, names; and what makes checks of keywords.
 *
 * @module
 */
import { type FormatChecks, refuse } from "./dialect.ts";
import { clip, keyOf, keysOf } from "./equality.ts";
import { type Check, PASS, type PatternRule, type Run, type SchemaNode } from "./node.ts";

/** The schema that a keyword is part of. */
export interface Reader {
  readonly node: SchemaNode;
  readonly formats: FormatChecks;
  /** Another keyword of the schema, where its dialect knows it. */
  readonly get: (keyword: string) => unknown;
  /** The node of a sub-schema. */
  readonly schema: (schema: unknown) => SchemaNode;
  /** The node that a reference leads to. */
  readonly find: (reference: string) => SchemaNode;
  readonly pattern: (source: string) => PatternRule;
}

/** Makes the check of one keyword from its value. True: there is nothing to check. False: it is not understood. */
export type Keyword = (value: unknown, reader: Reader, keyword: string) => Check | boolean;

/** Compares a size with a limit: `sign` is 1 for the most, -1 for the least; it fails from so much too much on. */
export function bound(
  sign: number,
  words: string,
  // deno-lint-ignore no-explicit-any
  measure: (value: any, run: Run, limit: number) => number = same,
  excess: number = Number.MIN_VALUE,
): Keyword {
  return (limit) =>
    isNumber(limit) &&
    ((run, value) => sign * (measure(value, run, limit) - limit) >= excess ? words + limit : PASS);
}

/** The number itself: what limits of numbers measure. */
export function same(value: number): number {
  return value;
}

/** Whether the value is one of some. */
export function among(values: readonly unknown[], words: string): Check {
  try {
    const keys = new Set(values.map((value) => keyOf(value, () => {})));
    words += clip(values.slice(0, 16).map((value) => clip(JSON.stringify(value))).join(", "), 400);
    return (run, value) => keys.has(keyOf(value, run.spend)) || words;
  } catch {
    return refuse("a value nests too deep in ", "enum");
  }
}

/** Whether an object has these keys. */
export function needs(names: readonly string[]): Check {
  return (run, value) => {
    run.spend(names.length);
    const missing = names.filter((name) => !has(value, name));
    return !missing.length || "have the property " + missing.map((name) => JSON.stringify(name)).join(", ");
  };
}

/** How many items or keys there are. */
export function size(value: Record<string, unknown> | unknown[], run: Run): number {
  return (Array.isArray(value) ? value : keysOf(value, run.spend)).length;
}

/** How many code points a text has; about, where the limit is far: at most as many as code units, and at least half. */
export function codePoints(value: string, run: Run, limit: number): number {
  let { length } = value;
  if (length < limit || length > 2 * limit) return length;
  run.spend(length >> 4);
  length = 0;
  for (const _ of value) length++;
  return length;
}

/** True for a key that JSON would keep. */
export function has(value: Record<string, unknown>, name: string): boolean {
  return value[name] !== undefined && Object.hasOwn(value, name);
}

/** True for a number. */
export function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/** True for a text. */
export function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** True for a list of texts. */
export function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
