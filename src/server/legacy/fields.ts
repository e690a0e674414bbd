/**
 * Copies of JSON objects with fewer or other fields. What needs no change is not copied.
 *
 * @module
 */
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";

/** The object without some fields: itself when it has none of them. */
export function without(value: JsonObject, names: readonly string[]): JsonObject {
  if (!names.some((name) => Object.hasOwn(value, name))) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

/** The object with other values for some fields. */
export function withFields(value: JsonObject, fields: JsonObject): JsonObject {
  return { ...value, ...fields };
}

/** The object with each object of one of its lists put through a function; what is no list stays as it is. */
export function mapped(value: JsonObject, name: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const list = value[name];
  if (!Array.isArray(list)) return value;
  const items = list.map((item): JsonValue => isObject(item) ? change(item) : item);
  return items.every((item, at) => item === list[at]) ? value : { ...value, [name]: items };
}
