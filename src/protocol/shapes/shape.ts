/**
 * A tiny language for the shapes of results: which fields there have to be, and of which kinds.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";

/** Text. */
export const text = "string";
/** An object. */
export const object = "object";
/** An array of anything. */
export const array = "array";
/** Text, or nothing. */
export const maybeText = "string?";
/** A number, or nothing. */
export const maybeNumber = "number?";
/** True, false, or nothing. */
export const maybeBoolean = "boolean?";
/** An object, or nothing. */
export const maybeObject = "object?";

/** A kind, a list of what the rule fits (true: or nothing), an object's fields, or a function. */
export type Rule = string | readonly [Rule, boolean?] | Fields | Check;
/** The rules of an object's fields. */
export type Fields = { readonly [field: string]: Rule };
/** A rule that needs a look at the whole value, which may be none of an object. */
export type Check = (value: Record<string, unknown>) => string | undefined;

/** A list result: its items, and what all lists have. */
export function list(field: string, item: Rule): Fields {
  return { [field]: [item], nextCursor: maybeText, ttlMs: maybeNumber };
}

/** The path to what is wrong (each step begins with a dot or a bracket), the closing quote, and what was expected. */
export function find(value: unknown, rule: Rule): string | undefined {
  if (typeof rule === "string") {
    return rule.includes(kind(value)) ? undefined : not(value, named(rule));
  }
  if (Array.isArray(rule)) {
    if (rule[1] && kind(value) === "?") return undefined;
    if (!Array.isArray(value)) return not(value, named(array));
    for (let at = 0; at < value.length; at++) {
      const wrong = find(value[at], rule[0]);
      if (wrong) return `[${at}]${wrong}`;
    }
    return undefined;
  }
  if (typeof rule === "function") return rule(value as Record<string, unknown>);
  if (!isObject(value)) return not(value, named(object));
  for (const field in rule) {
    const wrong = find(value[field], (rule as Fields)[field] as Rule);
    if (wrong) return `.${field}${wrong}`;
  }
  return undefined;
}

/** One of some words: `"user|assistant"`. */
export function oneOf(words: string): Check {
  return (value: unknown) => words.split("|").includes(value as string) ? undefined : not(value, words);
}

function not(value: unknown, expected: string): string {
  const found = value === undefined ? "missing" : value === null ? "null" : named(kind(value));
  return `" is ${found}: expected ${expected}`;
}

function named(rule: string): string {
  return (/^[ao]/.test(rule) ? "an " : "a ") + rule.replace("?", "");
}

/** What a value is; `?` stands for nothing. */
function kind(value: unknown): string {
  return value === undefined || value === null ? "?" : Array.isArray(value) ? array : typeof value;
}
