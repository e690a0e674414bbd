/**
 * The part of JSON Schema that Google's models know.
 *
 * @module
 */
import { typeOf } from "../../../protocol/arguments/schema.ts";
import { isObject, isTexts } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import { resolve } from "./reference.ts";

/** A schema of Google's API: a part of that of OpenAPI 3.0. */
export interface GoogleSchema {
  /** The type; missing in unions. */
  type?: "OBJECT" | "ARRAY" | "STRING" | "NUMBER" | "INTEGER" | "BOOLEAN" | "NULL";
  /** What people call it. */
  title?: string;
  /** What it is for. */
  description?: string;
  /** A format that Google knows. */
  format?: string;
  /** Whether it may be null. */
  nullable?: boolean;
  /** The texts that are allowed. */
  enum?: string[];
  /** What an object has. */
  properties?: Record<string, GoogleSchema>;
  /** What an object has to have. */
  required?: string[];
  /** What is in a list. */
  items?: GoogleSchema;
  /** One of several. */
  anyOf?: GoogleSchema[];
  /** The least items. */
  minItems?: number;
  /** The most items. */
  maxItems?: number;
  /** The least characters. */
  minLength?: number;
  /** The most characters. */
  maxLength?: number;
  /** The least properties. */
  minProperties?: number;
  /** The most properties. */
  maxProperties?: number;
  /** The least number. */
  minimum?: number;
  /** The greatest number. */
  maximum?: number;
  /** A regular expression for texts. */
  pattern?: string;
}

const deepest = 32;
/** After so many schemas no more references are filled in, nor what stands beside unions: they could double at each level. */
const mostSchemas = 1000;
const types: ReadonlyMap<unknown, NonNullable<GoogleSchema["type"]>> = new Map<
  unknown,
  NonNullable<GoogleSchema["type"]>
>([
  ["object", "OBJECT"],
  ["array", "ARRAY"],
  ["string", "STRING"],
  ["number", "NUMBER"],
  ["integer", "INTEGER"],
  ["boolean", "BOOLEAN"],
  ["null", "NULL"],
]);
const formats: Readonly<Record<string, readonly string[]>> = {
  STRING: ["date-time", "enum"],
  NUMBER: ["float", "double"],
  INTEGER: ["int32", "int64"],
};
const numbers = [
  "minItems",
  "maxItems",
  "minLength",
  "maxLength",
  "minProperties",
  "maxProperties",
  "minimum",
  "maximum",
] as const;

/**
 * What of a schema Google knows. Kept: types, `title`, `description`, `enum` of texts, `properties`, `required`, `items`,
 * `anyOf` (alone) and the bounds. Changed: references are filled in (a circle ends in any object), `oneOf` becomes `anyOf`, `allOf` is
 * joined, what stands beside a union is joined with its branches, `null` among types becomes `nullable`, `const` an `enum`;
 * allowed values that are no texts, or an empty one, stand in the description.
 * Left out: all else (`additionalProperties`, `not`, `if`, `exclusiveMinimum`, `multipleOf`, other formats, defaults …).
 * A list of unknown things is a list of texts: Google wants a type.
 *
 * @param root As `toModelSchema` makes it.
 * @param notes Is told when a schema is so large that some references are not filled in.
 */
export function toGoogleSchema(root: JsonObject, notes: string[] = []): GoogleSchema {
  const count = { schemas: 0, isCut: false };
  const schema = convert(root, { root, references: [], depth: 0, count });
  if (count.isCut) notes.push("it is too large with its references and unions filled in: some of them are any object");
  return schema;
}

interface Place {
  readonly root: JsonObject;
  /** The references that led here. */
  readonly references: readonly string[];
  readonly depth: number;
  /** How many schemas there are so far, and whether something was not filled in. */
  readonly count: { schemas: number; isCut: boolean };
}

/** What a reference leads to, as long as there is room. */
function follow(reference: string, { root, count }: Place): JsonObject | undefined {
  const target = resolve(reference, root);
  if (!target || count.schemas <= mostSchemas) return target;
  count.isCut = true;
  return undefined;
}

function convert(given: JsonObject, place: Place): GoogleSchema {
  if (place.depth > deepest) return { type: "OBJECT" };
  place.count.schemas++;
  const inside = { ...place, depth: place.depth + 1 };
  if (typeof given.$ref === "string") {
    const { $ref, ...beside } = given;
    const target = follow($ref, place);
    if (!target || place.references.includes($ref)) return { type: "OBJECT", ...describe(given) };
    return convert({ ...target, ...beside }, { ...inside, references: [...place.references, $ref] });
  }
  if (Array.isArray(given.allOf)) return convert(joinAll(given, place), inside);
  const union = [...list(given.anyOf), ...list(given.oneOf)];
  const named = namedTypes(given);
  const kinds = named.filter((type) => type !== "null" && allowedOf(given, type)?.length !== 0);
  const isNullable = named.includes("null") && named.length > 1;
  if (union.length > 0) return convertUnion(given, union, inside);
  if (kinds.length > 1) {
    const { title: _, description, ...rest } = given;
    const branches = kinds.map((type) => {
      const allowed = allowedOf(rest, type);
      return convert({ ...rest, type, ...(allowed && { enum: allowed }) }, inside);
    });
    return choice(branches, description, isNullable);
  }
  return { ...convertPlain(given, kinds[0] ?? named[0], inside), ...(isNullable && { nullable: true }) };
}

/** The types of a schema: where it names none, those of the values that it allows, if they are several. */
function namedTypes({ type, enum: allowed }: JsonObject): JsonValue[] {
  if (type !== undefined) return [type].flat();
  const found = [...new Set(Array.isArray(allowed) ? allowed.map(typeOf) : [])];
  return found.filter((one) => one !== "null").length > 1 ? found : [];
}

/** What is allowed of one type; undefined: all of it. */
function allowedOf({ enum: allowed }: JsonObject, type: JsonValue): JsonValue[] | undefined {
  if (!Array.isArray(allowed)) return undefined;
  return allowed.filter((value) => type === "integer" ? Number.isInteger(value) : typeOf(value) === type);
}

/** One of several. Vertex AI takes nothing beside it: what it is for is said by the first, each of them may be null. */
function choice(schemas: readonly GoogleSchema[], description: unknown, isNullable: boolean): GoogleSchema {
  const anyOf = schemas.flatMap((schema) => schema.anyOf ?? [schema]).map((schema, at): GoogleSchema => {
    const words = [...(at === 0 && typeof description === "string" ? [description] : []), schema.description ?? ""];
    const text = words.filter((word) => word !== "").join(": ");
    return { ...schema, ...(text !== "" && { description: text }), ...(isNullable && { nullable: true }) };
  });
  return { anyOf };
}

function convertUnion(given: JsonObject, union: readonly JsonObject[], inside: Place): GoogleSchema {
  const { anyOf: _, oneOf: __, title: ___, description, ...beside } = given;
  const branches = union.filter(({ type }) => type !== "null").map((branch) => {
    // What a reference leads to says its type itself.
    if (!("properties" in beside) && ("$ref" in branch || !("type" in beside || "items" in beside))) return branch;
    if (inside.count.schemas <= mostSchemas) return joinAll({ allOf: [beside, branch] }, inside);
    inside.count.isCut = true;
    return { ...branch, type: branch.type ?? beside.type ?? "object" };
  });
  const nullable = branches.length < union.length && branches.length > 0;
  const only = branches.length === 1 ? branches[0] : undefined;
  if (!only) {
    return choice((branches.length > 0 ? branches : union).map((one) => convert(one, inside)), description, nullable);
  }
  const made = convert({ ...only, ...(description !== undefined && { description }) }, inside);
  if (made.anyOf) return choice(made.anyOf, undefined, nullable);
  return { ...made, ...(nullable && { nullable: true }) };
}

function convertPlain(given: JsonObject, name: JsonValue | undefined, inside: Place): GoogleSchema {
  const allowed = given.const !== undefined ? [given.const] : Array.isArray(given.enum) ? given.enum : undefined;
  const type = types.get(name) ?? guess(given, allowed);
  const isNullable = type !== "NULL" && name === undefined && allowed?.includes(null);
  const made: GoogleSchema = { type, ...describe(given), ...(isNullable && { nullable: true }) };
  // The API refuses an empty text there.
  if (allowed && type === "STRING" && isTexts(allowed) && !allowed.includes("")) made.enum = [...allowed];
  else if (allowed) {
    const values = `One of: ${allowed.map((value) => JSON.stringify(value)).join(", ")}`;
    made.description = made.description ? `${made.description} (${values})` : values;
  }
  if (typeof given.format === "string" && formats[type]?.includes(given.format)) made.format = given.format;
  if (typeof given.pattern === "string" && type === "STRING") made.pattern = given.pattern;
  for (const key of numbers) {
    const bound = given[key];
    if (typeof bound === "number") made[key] = bound;
  }
  if (type === "ARRAY") {
    const items = isObject(given.items) ? given.items as JsonObject : {};
    made.items = Object.keys(items).length > 0 ? convert(items, inside) : { type: "STRING" };
  }
  const properties = type === "OBJECT" && isObject(given.properties) ? Object.entries(given.properties) : [];
  if (properties.length > 0) {
    made.properties = Object.fromEntries(
      properties.map(([key, schema]) => [key, convert(isObject(schema) ? schema as JsonObject : {}, inside)]),
    );
    const names = new Set(properties.map(([key]) => key));
    const required = isTexts(given.required) ? given.required.filter((key) => names.has(key)) : [];
    if (required.length > 0) made.required = required;
  }
  return made;
}

/** The type of a schema that names none. */
function guess(given: JsonObject, allowed: readonly JsonValue[] | undefined): NonNullable<GoogleSchema["type"]> {
  if (isObject(given.properties)) return "OBJECT";
  if (given.items !== undefined) return "ARRAY";
  const first = allowed?.find((value) => value !== null);
  if (allowed?.length && first === undefined) return "NULL";
  return typeof first === "number" ? "NUMBER" : typeof first === "boolean" ? "BOOLEAN" : "STRING";
}

/**
 * A schema with what its `allOf` says: the later word counts, properties and `required` are joined. What many of its references lead to
 * is joined twice at most.
 */
function joinAll({ allOf, ...given }: JsonObject, place: Place): JsonObject {
  const joined = new Map<string, JsonValue | undefined>();
  const properties = new Map<string, JsonValue | undefined>();
  const required = new Set<string>();
  const parts = [...list(allOf), given].flatMap((branch) => {
    const { $ref, ...own } = branch;
    const target = typeof $ref === "string" ? follow($ref, place) : undefined;
    return target ? [target, own] : [branch];
  });
  // Where it stands first says the order, and where it stands last what counts.
  const last = new Map(parts.map((part, at) => [part, at]));
  const seen = new Set<JsonObject>();
  for (const [at, part] of parts.entries()) {
    if (seen.has(part) && last.get(part) !== at) continue;
    seen.add(part);
    for (const [key, value] of Object.entries(part)) joined.set(key, value);
    for (const [name, property] of Object.entries(record(part.properties))) properties.set(name, property);
    for (const name of texts(part.required)) required.add(name);
  }
  return {
    ...Object.fromEntries(joined),
    ...(properties.size > 0 && { properties: Object.fromEntries(properties) as JsonObject, type: "object" }),
    ...(required.size > 0 && { required: [...required] }),
  };
}

function describe({ title, description }: JsonObject): Pick<GoogleSchema, "title" | "description"> {
  return {
    ...(typeof title === "string" && { title }),
    ...(typeof description === "string" && { description }),
  };
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((item): item is JsonObject => isObject(item)) : [];
}

function record(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value as JsonObject : {};
}

function texts(value: JsonValue | undefined): string[] {
  return isTexts(value) ? value : [];
}
