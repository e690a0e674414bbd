/**
 * The JSON Schema of a tool's arguments, as the APIs of models take it.
 *
 * @module
 */
import { isObject, isTexts } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import { anchorsOf, resolve } from "./reference.ts";
import { joinRoot } from "./root.ts";

/** A schema that models get. */
export interface ModelSchema {
  /** Of an object, with `properties`. */
  readonly schema: JsonObject;
  /** What was left out that says something: each a line. */
  readonly notes: readonly string[];
}

const deepest = 64;
/** Keywords that hold schemas by name, lists of schemas, and one schema. */
const maps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);
const lists: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf"]);
const singles: ReadonlySet<string> = new Set([
  "items",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "not",
  "if",
  "then",
  "else",
  "contains",
  "propertyNames",
  "contentSchema",
]);
/** Keywords that say nothing to a model, and that some APIs refuse. */
const silent: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "id",
  "$comment",
  "$vocabulary",
  "$anchor",
  "$dynamicAnchor",
  "$recursiveAnchor",
  "$dynamicRef",
  "$recursiveRef",
]);
/** Keywords that are numbers: of `exclusiveMinimum`, draft 4 makes a switch. */
const numbers = /^(minimum|maximum|exclusiveM\w+)$/;
const counts = /^(min|max)(Length|Items|Properties|Contains)$/;
const switches = /^(deprecated|readOnly|writeOnly|uniqueItems)$/;
const types: ReadonlySet<unknown> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

/**
 * Makes a schema fit for models: `type: "object"` and `properties` are there; `$schema`, `$id`, `x-…` and their like are not;
 * the root has no unions (their branches are joined); tuples become lists of any of their kinds; what is no schema, and
 * references that lead nowhere in it, become "anything". A looser schema does no harm: the server checks the arguments.
 *
 * @throws {TypeError} When it is no schema of an object, or too deep.
 */
export function toModelSchema(schema: unknown): ModelSchema {
  if (!isObject(schema)) throw new TypeError("its inputSchema is no object");
  const notes: string[] = [];
  const cleaned = clean(schema, "", 0, notes);
  const anchors = anchorsOf(schema);
  // APIs for models know no anchors.
  eachSchema(cleaned, (one) => {
    if (typeof one.$ref === "string") one.$ref = anchors.get(one.$ref) ?? one.$ref;
  });
  const root = joinRoot(cleaned, notes);
  const { type } = root;
  if (type !== undefined && type !== "object" && !(Array.isArray(type) && type.includes("object"))) {
    throw new TypeError(`its inputSchema is of type ${JSON.stringify(type)}, expected "object"`);
  }
  const properties = isObject(root.properties) ? root.properties : {};
  const made: JsonObject = { ...root, type: "object", properties: properties as JsonObject };
  loosenReferences(made, notes);
  return { schema: made, notes };
}

function clean(schema: Record<string, unknown>, path: string, depth: number, notes: string[]): JsonObject {
  if (depth > deepest) throw new TypeError(`its inputSchema is more than ${deepest} levels deep`);
  const child = (value: unknown, key: string) => cleanAny(value, `${path}/${key}`, depth + 1, notes);
  const kept: [string, JsonValue][] = [];
  let isLoose = false;
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || silent.has(key) || key.startsWith("x-")) continue;
    if (maps.has(key)) {
      const made = cleanMap(value, `${path}/${key}`, depth, notes);
      if (key === "patternProperties") isLoose = dropPatterns(made, `${path}/${key}`, notes);
      kept.push([key, made]);
    } else if (lists.has(key)) {
      const branches: JsonObject[] = Array.isArray(value)
        ? value.flatMap((branch, at) => orNone(child(branch, `${key}/${at}`)))
        : [];
      if (branches.length > 0) kept.push([key, branches]);
    } else if (key === "prefixItems" || (key === "items" && Array.isArray(value))) {
      const kinds: JsonObject[] = (Array.isArray(value) ? value : []).flatMap((kind, at) =>
        orNone(child(kind, `${key}/${at}`))
      );
      // What follows the tuple. As a rule nothing does, whatever may.
      const rest = key === "items" ? "additionalItems" : "items";
      if (isObject(schema[rest]) && Object.keys(schema[rest]).length > 0) {
        kinds.push(...orNone(child(schema[rest], rest)));
      }
      kept.push(["items", kinds.length > 0 ? { anyOf: kinds } : {}]);
    } else if (singles.has(key)) {
      if (key === "items" && "prefixItems" in schema) continue;
      const isSwitch = typeof value === "boolean" && !["items", "not", "if", "contains"].includes(key);
      const cleaned = isSwitch ? value : child(value, key);
      if (cleaned !== undefined) kept.push([key, cleaned]);
    } else if (isSound(key, value)) kept.push([key, isSet(key, value) ? [...new Set(value)] : value as JsonValue]);
    else notes.push(`${path || "/"}: "${key}" is not what JSON Schema allows there`);
  }
  const made: JsonObject = Object.fromEntries(kept);
  // What a pattern had allowed that is gone.
  if (isLoose) delete made.additionalProperties;
  if ([made.type].flat().includes("array") && made.items === undefined) made.items = {};
  return made;
}

function orNone(schema: JsonObject | undefined): JsonObject[] {
  return schema === undefined ? [] : [schema];
}

/** A schema at a place where one has to be. Undefined: it allows nothing. */
function cleanAny(value: unknown, path: string, depth: number, notes: string[]): JsonObject | undefined {
  if (isObject(value)) return clean(value, path, depth, notes);
  if (value === false) return undefined;
  if (value !== true) notes.push(`${path}: it is no schema`);
  return {};
}

function cleanMap(value: unknown, path: string, depth: number, notes: string[]): JsonObject {
  if (!isObject(value)) {
    notes.push(`${path}: it is no object`);
    return {};
  }
  // fromEntries makes own properties of any name.
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, schema]) => {
      const cleaned = cleanAny(schema, `${path}/${name}`, depth + 1, notes);
      return cleaned === undefined ? [] : [[name, cleaned]];
    }),
  );
}

/** Takes patterns out that cannot be read; tells whether there were any. */
function dropPatterns(schemas: JsonObject, path: string, notes: string[]): boolean {
  const bad = Object.keys(schemas).filter((pattern) => !isPattern(pattern));
  for (const pattern of bad) {
    delete schemas[pattern];
    notes.push(`${path}: ${JSON.stringify(pattern.slice(0, 80))} is no regular expression`);
  }
  return bad.length > 0;
}

/** Whether it is a list in which nothing may stand twice. */
function isSet(key: string, value: unknown): value is JsonValue[] {
  return (key === "required" || key === "type") && Array.isArray(value);
}

/** Whether a keyword that holds no schema has a value that APIs take. */
function isSound(key: string, value: unknown): boolean {
  if (key === "type") {
    return types.has(value) || (Array.isArray(value) && value.length > 0 && value.every((one) => types.has(one)));
  }
  if (key === "required") return isTexts(value);
  if (key === "enum") return Array.isArray(value) && value.length > 0;
  if (key === "examples") return Array.isArray(value);
  if (key === "dependentRequired") return isObject(value) && Object.values(value).every(isTexts);
  if (numbers.test(key)) return typeof value === "number";
  if (key === "multipleOf") return typeof value === "number" && value > 0;
  if (counts.test(key)) return Number.isInteger(value) && Number(value) >= 0;
  if (switches.test(key)) return typeof value === "boolean";
  if (key === "pattern") return isPattern(value);
  if (key === "$ref" || key === "description" || key === "title" || key === "format") {
    return typeof value === "string";
  }
  return true;
}

/** Whether programs that check arguments can read a pattern: those of other languages have words of their own. */
function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Takes references out that lead nowhere in the schema. */
function loosenReferences(root: JsonObject, notes: string[]): void {
  eachSchema(root, (one) => {
    if (typeof one.$ref !== "string" || resolve(one.$ref, root) !== undefined) return;
    notes.push(`the reference "${one.$ref.slice(0, 100)}" leads nowhere in it`);
    delete one.$ref;
  });
}

/** Visits a schema, and all that are in it: what a visit takes away is not visited. */
export function eachSchema(value: unknown, visit: (schema: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) { for (const item of value) eachSchema(item, visit); }
  if (!isObject(value)) return;
  visit(value);
  for (const [key, held] of Object.entries(value)) {
    if (maps.has(key) && isObject(held)) {
      for (const schema of Object.values(held)) eachSchema(schema, visit);
    } else if (lists.has(key) || singles.has(key)) eachSchema(held, visit);
  }
}
