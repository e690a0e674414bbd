/**
 * A tiny language for the shapes of results: which fields there have to be, and of which kinds.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";

/** Text. Kinds are bits, so that a field may be one of several. */
export const text = 1;
const number = 2;
const boolean = 4;
/** An object. */
export const object = 8;
const array = 16;
const nothing = 32;
const names: Readonly<Record<number, string>> = {
  [text]: "a string",
  [number]: "a number",
  [boolean]: "a boolean",
  [object]: "an object",
  [array]: "an array",
  [nothing]: "null",
};
/** Text, or nothing. */
export const maybeText: number = text | nothing;
/** A number, or nothing. */
export const maybeNumber: number = number | nothing;
/** True, false, or nothing. */
export const maybeBoolean: number = boolean | nothing;
/** An object, or nothing. */
export const maybeObject: number = object | nothing;

/** Whatever there is. */
export const anything: number = 63;

/** Kinds, one of some words (`user|assistant`), a list of what the rule fits (1: or nothing), an object's fields, or a function for an object. */
export type Rule = number | string | readonly [Rule, 1?] | Fields | Check;
/** The rules of an object's fields. */
export type Fields = { readonly [field: string]: Rule };
/** A rule that needs a look at the whole object. */
export type Check = (value: Record<string, unknown>) => string | undefined;

/** A list result: its items, and what all lists have. */
export function list(field: string, item: Rule): Fields {
  return { [field]: [item], nextCursor: maybeText, ttlMs: maybeNumber };
}

/** The path to what is wrong (each step begins with a dot or a bracket), the closing quote, and what was expected. */
export function find(value: unknown, rule: Rule): string | undefined {
  if (typeof rule === "number") return kind(value) & rule ? undefined : not(value, names[rule & ~nothing]);
  if (typeof rule === "string") return rule.split("|").includes(value as string) ? undefined : not(value, rule);
  if (Array.isArray(rule)) {
    if (rule[1] && (value ?? undefined) === undefined) return undefined;
    if (!Array.isArray(value)) return not(value, names[array]);
    for (let at = 0; at < value.length; at++) {
      const wrong = find(value[at], rule[0]);
      if (wrong) return `[${at}]${wrong}`;
    }
    return undefined;
  }
  if (!isObject(value)) return not(value, names[object]);
  if (typeof rule === "function") return rule(value);
  for (const field in rule) {
    const inner = (rule as Fields)[field] as Rule;
    // Most fields end here: the call below costs more than all that is checked.
    if (typeof inner === "number" && kind(value[field]) & inner) continue;
    const wrong = find(value[field], inner);
    if (wrong) return `.${field.slice(0, 99)}${wrong}`;
  }
  return undefined;
}

function not(value: unknown, expected: string | undefined): string {
  return `" is ${value === undefined ? "missing" : names[kind(value)]}: expected ${expected}`;
}

function kind(value: unknown): number {
  switch (typeof value) {
    case "string":
      return text;
    case "number":
      return number;
    case "boolean":
      return boolean;
  }
  return (value ?? undefined) === undefined ? nothing : Array.isArray(value) ? array : object;
}
