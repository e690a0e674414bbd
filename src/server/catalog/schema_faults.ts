/**
 * Finds what in an author's JSON Schema is written wrongly: a validator would have to leave it alone, so that nothing
 * would be checked.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { SchemaValidator } from "../../protocol/validation.ts";

const types = ["string", "number", "integer", "boolean", "null", "object", "array"];
/** Keywords with schemas by name below them. */
const maps = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/** Keywords with one schema. */
const singles = ["additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"];
/** Keywords with a list of schemas. */
const lists = ["allOf", "anyOf", "oneOf", "prefixItems"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

type Expectation = readonly [isRight: (value: unknown) => boolean, expected: string];

/** What the values of keywords have to be. */
const expectations: ReadonlyMap<string, Expectation> = new Map<string, Expectation>([
  ["type", [(value) => isType(value) || isListOf(value, isType), `one of ${types.join(", ")}`]],
  ["required", [(value) => isListOf(value, isText), "a list of names"]],
  ["enum", [Array.isArray, "a list"]],
  ["pattern", [isText, "a text"]],
  ["items", [(value) => isSchema(value) || isListOf(value, isSchema), "a schema"]],
  ...maps.map((name): [string, Expectation] => [name, [isMap, "an object of schemas"]]),
  ...singles.map((name): [string, Expectation] => [name, [isSchema, "a schema"]]),
  ...lists.map((name): [string, Expectation] => [name, [(value) => isListOf(value, isSchema), "a list of schemas"]]),
  ...counts.map((name): [string, Expectation] => [name, [isCount, "a whole number, 0 or more"]]),
  ...bounds.map((name): [string, Expectation] => [name, [(value) => typeof value === "number", "a number"]]),
]);

/** One thing that is wrong. */
export interface SchemaFault {
  /** Where it is: the names of keywords and properties, parted by slashes. */
  readonly path: string;
  readonly value: unknown;
  readonly expected: string;
}

/**
 * The first thing that is wrong in a schema, or undefined. Keywords that it does not know, and what is below them, are
 * left alone.
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
      const [isRight, expected] = expectations.get(keyword) ?? [];
      if (!isRight || !expected) continue;
      if (!isRight(value)) return { path, value, expected };
      const patterns = keyword === "pattern"
        ? [value]
        : keyword === "patternProperties"
        ? Object.keys(value as object)
        : [];
      const bad = patterns.find((pattern) => !canJudge(pattern, validator));
      if (bad !== undefined) return { path, value: bad, expected: "a regular expression that the validator can check" };
      if (lists.includes(keyword) || maps.includes(keyword) || (keyword === "items" && Array.isArray(value))) {
        for (const [name, inner] of Object.entries(value as object)) waiting.push([inner, `${path}/${name}`]);
      } else waiting.push([value, path]);
    }
  }
  return undefined;
}

function canJudge(pattern: unknown, validator: SchemaValidator): boolean {
  const verdict = validator({ pattern: pattern as string })("");
  return verdict.unchecked === undefined;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isType(value: unknown): boolean {
  return types.includes(value as string);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isObject(value);
}

function isMap(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isSchema);
}

function isListOf(value: unknown, isRight: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isRight);
}
