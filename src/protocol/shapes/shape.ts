/**
 * A tiny language for the shapes of results: which fields there have to be, and of which kinds.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";

/** Text. A kind is a bit, and a rule is the sum of the kinds that it takes. */
export const text = 1;
/** An object. */
export const object = 8;
/** An array of anything. */
export const array = 16;
const nothing = 32;
/** Text, or nothing. */
export const maybeText = 33;
/** A number, or nothing. */
export const maybeNumber = 34;
/** True, false, or nothing. */
export const maybeBoolean = 36;
/** An object, or nothing. */
export const maybeObject = 40;

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
  if (typeof rule === "number" || typeof rule === "string") {
    const fits = typeof rule === "number" ? rule & kind(value) : rule.split("|").includes(value as string);
    return fits ? undefined : not(value, rule);
  }
  if (Array.isArray(rule)) {
    if (rule[1] && kind(value) === nothing) return undefined;
    if (!Array.isArray(value)) return not(value, array);
    for (let at = 0; at < value.length; at++) {
      const wrong = find(value[at], rule[0]);
      if (wrong) return `[${at}]${wrong}`;
    }
    return undefined;
  }
  if (!isObject(value)) return not(value, object);
  if (typeof rule === "function") return rule(value);
  for (const field in rule) {
    const wrong = find(value[field], (rule as Fields)[field] as Rule);
    if (wrong) return `.${field.slice(0, 99)}${wrong}`;
  }
  return undefined;
}

function not(value: unknown, rule: number | string): string {
  const found = value === undefined ? "missing" : value === null ? "null" : named(kind(value));
  return `" is ${found}: expected ${named(rule)}`;
}

/** The first kind that a rule takes. */
function named(rule: number | string): string | undefined {
  return typeof rule === "string"
    ? rule
    : ["a string", "a number", "a boolean", "an object", "an array"].find((_, at) => rule & 1 << at);
}

function kind(value: unknown): number {
  const type = typeof value;
  return type === "string"
    ? text
    : value === undefined || value === null
    ? nothing
    : type === "object"
    ? Array.isArray(value) ? array : object
    : type === "number"
    ? 2
    : 4;
}
