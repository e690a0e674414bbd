/**
 * What an input schema says of its properties, as far as that can be told without evaluating it.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";

const deepest = 4;

/** The properties of an object schema: their schemas by name. */
export function propertiesOf(schema: unknown): [name: string, schema: unknown][] {
  return isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : [];
}

/** The names that an object schema wants. */
export function requiredOf(schema: unknown): string[] {
  const required = isObject(schema) ? schema.required : undefined;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** The types that a value may have, as far as they can be told without evaluating the schema; none when anything goes. */
export function typesOf(schema: unknown): Set<string> {
  const types = new Set<string>();
  collectTypes(schema, types, 0);
  return types;
}

function collectTypes(schema: unknown, types: Set<string>, depth: number): void {
  if (!isObject(schema) || depth > deepest) return;
  for (const type of Array.isArray(schema.type) ? schema.type : [schema.type]) {
    if (typeof type === "string") types.add(type);
  }
  if (schema.type !== undefined) return;
  const values = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : [];
  for (const value of values) types.add(typeOf(value));
  for (const branch of branchesOf(schema)) collectTypes(branch, types, depth + 1);
}

/** The type of a value by its name in a schema; of a whole number "number", too. */
export function typeOf(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

/** The schemas of which a value has to fit some, or all. */
export function branchesOf(schema: Record<string, unknown>): unknown[] {
  return [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => Array.isArray(list) ? list : []);
}
