/**
 * A JSON Schema in a few characters, for listings.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import { oneLine } from "./plain.ts";

const deepest = 4;
const longest = 80;

/** How a schema is written in a listing: `string`, `"a" | "b"`, `integer[]`. */
export function typeText(schema: unknown): string {
  const text = oneLine(written(schema, 0));
  return text.length > longest ? text.slice(0, longest - 1) + "…" : text;
}

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
  for (const value of values) types.add(value === null ? "null" : Array.isArray(value) ? "array" : typeof value);
  for (const branch of branchesOf(schema)) collectTypes(branch, types, depth + 1);
}

function branchesOf(schema: Record<string, unknown>): unknown[] {
  return [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => Array.isArray(list) ? list : []);
}

function written(schema: unknown, depth: number): string {
  if (!isObject(schema) || depth > deepest) return "any";
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema.const);
  const types = Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type];
  if (types.length > 0) {
    return types.map((type) => type === "array" ? arrayText(schema.items, depth) : String(type)).join(" | ");
  }
  const branches = branchesOf(schema).map((branch) => written(branch, depth + 1));
  if (branches.length > 0) return [...new Set(branches)].join(" | ");
  if (typeof schema.$ref === "string") return schema.$ref.split("/").at(-1) || "any";
  return "any";
}

function arrayText(items: unknown, depth: number): string {
  const item = written(items, depth + 1);
  return item.includes(" ") ? `(${item})[]` : `${item}[]`;
}
