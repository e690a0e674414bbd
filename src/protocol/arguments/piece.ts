/**
 * One argument as people write it: `key=value`, `key:=json`, or a whole object.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonObject, JsonValue } from "../json_rpc.ts";
import { refuseInexact } from "./exact.ts";

/** One argument: a whole object, a value in JSON, or a text that the schema will explain. */
export type Piece =
  | { readonly object: JsonObject }
  | { readonly key: string; readonly value: JsonValue }
  | { readonly key: string; readonly text: string };

/**
 * Reads `key=value`, `key:=json` or `{…}`; undefined for what is none of them.
 *
 * @throws {TypeError} When the JSON in it cannot be read.
 */
export function readPiece(word: string): Piece | undefined {
  if (word.startsWith("{")) return { object: readObject(word, "the argument") };
  const equals = word.indexOf("=");
  const isJson = word[equals - 1] === ":";
  const key = word.slice(0, isJson ? equals - 1 : equals);
  if (equals < 1 || key === "") return undefined;
  const text = word.slice(equals + 1);
  return isJson ? { key, value: readJson(text, `the value of "${key}"`) } : { key, text };
}

/**
 * Reads a JSON object, with or without a byte order mark.
 *
 * @param where What the message calls it.
 * @throws {TypeError} When it is none.
 */
export function readObject(text: string, where: string): JsonObject {
  const value = readJson(text, where);
  if (isObject(value)) return value;
  throw new TypeError(`Cannot use ${where} as arguments: expected a JSON object such as {"key": 1}`);
}

function readJson(text: string, where: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text.replace(/^\uFEFF/, ""));
    refuseInexact(text);
    return value;
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`Cannot read ${where}: it is not JSON (${why}); correct it`);
  }
}
