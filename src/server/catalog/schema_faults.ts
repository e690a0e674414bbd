/**
 * Finds what in an author's JSON Schema is written wrongly: a validator would have to leave it alone, so that nothing
 * would be checked.
 *
 * @module
 */
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import { KEYWORDS } from "../../protocol/json_schema/keywords.ts";
import { LISTED, NAMED, NAMES, ONE, own } from "../../protocol/json_schema/node.ts";
import { TYPES } from "../../protocol/json_schema/types.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";

/** One thing that is wrong. */
export interface SchemaFault {
  /** Where it is: the names of keywords and properties, parted by slashes. */
  readonly path: string;
  readonly value: unknown;
  readonly expected: string;
}

/** What keywords that no schema is below have to hold. */
const others: Readonly<Record<string, readonly [isRight: (value: unknown) => boolean, expected: string]>> = {
  type: [(value) => isTypes([value].flat()), `one of ${Object.keys(TYPES).join(", ")}`],
  required: [isTexts, "a list of names"],
  enum: [Array.isArray, "a list"],
};

/**
 * The first thing that is wrong in a schema, or undefined. Keywords that are not known, and what is below them, are left
 * alone.
 *
 * @param schema Plain JSON.
 * @param validator Tells which patterns it can judge.
 */
export function findSchemaFault(schema: unknown, validator: SchemaValidator): SchemaFault | undefined {
  const waiting: [part: unknown, path: string][] = [[schema, ""]];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [part, place] = next;
    if (!isObject(part)) continue;
    for (const [keyword, value] of Object.entries(part)) {
      const path = `${place}/${keyword}`;
      const shape = own(KEYWORDS, keyword)?.[1];
      const expected = expectedOf(keyword, shape, value);
      if (expected) return { path, value, expected };
      const patterns = keyword === "pattern"
        ? [value]
        : keyword === "patternProperties"
        ? Object.keys(value as object)
        : [];
      const bad = patterns.find((pattern) => !canJudge(pattern, validator));
      if (bad !== undefined) return { path, value: bad, expected: "a regular expression that the validator can check" };
      if (typeof shape !== "number") continue;
      if (shape & NAMED || Array.isArray(value)) {
        for (const [name, inner] of Object.entries(value as object)) waiting.push([inner, `${path}/${name}`]);
      } else waiting.push([value, path]);
    }
  }
  return undefined;
}

/**
 * Whether a schema has nothing but types, properties, required names and words, all written rightly. Most schemas are so:
 * where they are all, an isolate starts without compiling `findSchemaFault` and what it calls.
 */
export function isPlain(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  for (const keyword in schema) {
    const value = schema[keyword];
    const isRight = keyword === "type"
      ? typeof value === "string" && own(TYPES, value)
      : keyword === "properties"
      ? isObject(value) && Object.values(value).every(isPlain)
      : keyword === "required"
      ? isTexts(value)
      : keyword === "description" || keyword === "title";
    if (!isRight) return false;
  }
  return true;
}

/** What a keyword should hold instead; undefined when it is right, or nothing is known of it. */
function expectedOf(keyword: string, shape: unknown, value: unknown): string | undefined {
  const isSchemas = Array.isArray(value) && value.every(isSchema);
  if (typeof shape === "number") {
    if (shape & ONE) return isSchema(value) || (shape & LISTED && isSchemas) ? undefined : "a schema";
    if (shape & LISTED) return isSchemas ? undefined : "a list of schemas";
    const isRight = isObject(value) &&
      Object.values(value).every((part) => isSchema(part) || (shape & NAMES && isTexts(part)));
    return isRight ? undefined : "an object of schemas";
  }
  if (!shape) return undefined;
  const [isRight, words] = own(others, keyword) ?? [];
  if (isRight) return isRight(value) ? undefined : words;
  const isCount = /^m..[LIPC]/.test(keyword);
  if (!isCount && typeof shape !== "string") return undefined;
  // deno-lint-ignore valid-typeof
  const isWrong = isCount ? !Number.isSafeInteger(value) || value as number < 0 : typeof value !== shape;
  return isWrong ? isCount ? "a whole number, 0 or more" : `a ${shape}` : undefined;
}

function canJudge(pattern: unknown, validator: SchemaValidator): boolean {
  return validator({ pattern: pattern as string })("").unchecked === undefined;
}

function isTypes(names: unknown[]): boolean {
  return names.length > 0 && isTexts(names) && names.every((name) => own(TYPES, name));
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isObject(value);
}
