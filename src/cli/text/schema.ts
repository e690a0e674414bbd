/**
 * A JSON Schema in a few characters, for listings.
 *
 * @module
 */
import { branchesOf } from "../../protocol/arguments/schema.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { oneLine } from "./plain.ts";

const deepest = 4;
const longest = 80;

/** How a schema is written in a listing: `string`, `"a" | "b"`, `integer[]`. */
export function typeText(schema: unknown): string {
  const text = oneLine(written(schema, 0));
  return text.length > longest ? text.slice(0, longest - 1) + "…" : text;
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
