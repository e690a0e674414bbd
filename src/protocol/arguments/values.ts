/**
 * From written arguments to JSON, by the tool's input schema.
 *
 * @module
 */
import { isObject } from "../json_rpc.ts";
import type { JsonObject, JsonValue } from "../json_rpc.ts";
import { refuseInexact } from "./exact.ts";
import type { Piece } from "./piece.ts";
import { propertiesOf, typesOf } from "./schema.ts";

/**
 * Puts the pieces together. A text becomes what the schema of its key says: a text where a text is allowed, else a
 * number, `true`, `false`, `null`, or JSON. What does not fit stays a text, so that the check can name it.
 *
 * @param schema The tool's input schema; without one every text stays a text.
 * @throws {TypeError} When a key that is no list is given twice, or a whole number has more digits than can be sent.
 */
export function buildArguments(pieces: readonly Piece[], schema: unknown): JsonObject {
  const properties = new Map(propertiesOf(schema));
  const built = new Map<string, JsonValue | undefined>();
  const written = new Set<string>();
  for (const piece of pieces) {
    if ("object" in piece) {
      for (const [key, value] of Object.entries(piece.object)) built.set(key, value);
      continue;
    }
    const { key } = piece;
    const again = written.has(key);
    written.add(key);
    const property = properties.get(key);
    const value = "value" in piece ? piece.value : readValue(piece.text, property);
    const before = built.get(key);
    if (again && !(Array.isArray(before) && Array.isArray(value) && typesOf(property).has("array"))) {
      throw new TypeError(`The argument "${key}" is given twice: give it once, or write a list as ${key}:=[…]`);
    }
    built.set(key, again && Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
  // Not by assignment: a key may be named `__proto__`.
  return Object.fromEntries(built);
}

/**
 * One text as the value that a schema wants. A list takes a single item too.
 *
 * @throws {TypeError} When a whole number has more digits than can be sent.
 */
export function readValue(text: string, schema: unknown): JsonValue {
  const types = typesOf(schema);
  if (types.size === 0 || types.has("string")) return text;
  if ((types.has("number") || types.has("integer")) && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text)) {
    refuseInexact(text);
    const number = Number(text);
    if (Number.isFinite(number)) return number;
  }
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("null") && text === "null") return null;
  if (types.has("object") || types.has("array")) return readJson(text, schema, types);
  return text;
}

function readJson(text: string, schema: unknown, types: ReadonlySet<string>): JsonValue {
  if (/^\s*[[{]/.test(text)) {
    try {
      const value: JsonValue = JSON.parse(text);
      if (types.has(Array.isArray(value) ? "array" : "object")) return (refuseInexact(text), value);
    } catch (error) {
      if (error instanceof TypeError) throw error;
      return text;
    }
  }
  return types.has("array") && isObject(schema) ? [readValue(text, schema.items)] : text;
}
