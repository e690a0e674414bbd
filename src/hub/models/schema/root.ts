/**
 * The root of a schema without unions: APIs of models want plain properties there.
 *
 * @module
 */
import { isObject, isTexts } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import { resolve } from "./reference.ts";

const deepest = 8;
/** The most branches that are looked at: references could make many more of few. */
const mostBranches = 300;
/** After so many properties of branches no more are joined: many branches may have the same large ones. */
const mostJoined = 200_000;

/** Where the branches are, and how many were looked at. */
interface Walk {
  readonly root: JsonObject;
  branches: number;
  /** Properties of branches, and kinds of them, that were joined. */
  joined: number;
  /** Kinds that were written down, so that each is once. */
  readonly texts: Map<JsonValue, string>;
  /** Unions that were made here, and the texts of what is in them. */
  readonly made: Map<JsonValue, Set<string>>;
}

/** What an object takes. */
interface Shape {
  readonly properties: Map<string, JsonValue>;
  readonly required: ReadonlySet<string>;
}

/**
 * Joins the branches of `allOf`, `anyOf` and `oneOf`, and what `$ref` leads to, with the root: all their properties may be
 * given; required is what every branch requires (of `allOf`: any).
 *
 * @param schema Cleaned.
 * @param notes Is told when something is lost by it.
 */
export function joinRoot(schema: JsonObject, notes: string[]): JsonObject {
  const { $ref, allOf, anyOf, oneOf, not, enum: values, const: value, ...rest } = schema;
  if ([$ref, allOf, anyOf, oneOf, not, values, value].every((keyword) => keyword === undefined)) return schema;
  const walk: Walk = { root: schema, branches: 0, joined: 0, texts: new Map(), made: new Map() };
  const { properties, required } = shapeOf(schema, walk, 0);
  if (walk.branches > mostBranches || walk.joined > mostJoined) {
    notes.push("its root has too many branches: some of them are left out");
  }
  if (anyOf ?? oneOf ?? not ?? values ?? value) notes.push("the alternatives of its root are joined into one");
  const type = rest.type ?? typeBehind(schema, { root: schema, branches: 0 }, 0);
  const { required: _, ...plain } = rest;
  return {
    ...plain,
    ...(type !== undefined && { type }),
    properties: Object.fromEntries(properties),
    ...(required.size > 0 && { required: [...required] }),
  };
}

function shapeOf(schema: JsonObject, walk: Walk, depth: number): Shape {
  const properties = new Map<string, JsonValue>();
  const required = new Set(isTexts(schema.required) ? schema.required : []);
  const take = (shape: Shape) => {
    for (const [name, property] of shape.properties) {
      properties.set(name, joinProperty(properties.get(name), property, walk));
    }
  };
  if (isObject(schema.properties) && (depth === 0 || walk.joined <= mostJoined)) {
    take({ properties: new Map(Object.entries(schema.properties as JsonObject) as [string, JsonValue][]), required });
  }
  if (depth >= deepest || ++walk.branches > mostBranches) return { properties, required };
  const target = typeof schema.$ref === "string" ? resolve(schema.$ref, walk.root) : undefined;
  const all = [...branchesOf(schema.allOf), ...(target && target !== schema ? [target] : [])];
  for (const branch of all) {
    const shape = shapeOf(branch, walk, depth + 1);
    take(shape);
    for (const name of shape.required) required.add(name);
  }
  for (const branches of [branchesOf(schema.anyOf), branchesOf(schema.oneOf)]) {
    const shapes = branches.map((branch) => shapeOf(branch, walk, depth + 1));
    shapes.forEach(take);
    for (const name of shapes[0]?.required ?? []) {
      if (shapes.every((shape) => shape.required.has(name))) required.add(name);
    }
  }
  return { properties, required };
}

/** The type that the branches agree on, where the root itself says none. */
function typeBehind(schema: JsonObject, walk: Pick<Walk, "root" | "branches">, depth: number): JsonValue | undefined {
  if (schema.type !== undefined || depth >= deepest || ++walk.branches > mostBranches) return schema.type;
  const target = typeof schema.$ref === "string" ? resolve(schema.$ref, walk.root) : undefined;
  const branches = [target, ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap(branchesOf)];
  const found = branches.flatMap((branch) =>
    branch && branch !== schema ? typeBehind(branch, walk, depth + 1) ?? [] : []
  );
  return found.includes("object") ? "object" : found[0];
}

function joinProperty(one: JsonValue | undefined, other: JsonValue, walk: Walk): JsonValue {
  const added = kindsOf(other);
  walk.joined += added.length;
  if (one === undefined) return other;
  const made = walk.made.get(one);
  const text = textOf(other, walk);
  if (!made && textOf(one, walk) === text) return other;
  // What was made here is nobody else's, and grows in its place.
  const union = made ? one as { anyOf: JsonValue[] } : { anyOf: [...kindsOf(one)] };
  const texts = made ?? new Set(union.anyOf.map((kind) => textOf(kind, walk)));
  walk.made.set(union, texts);
  if (texts.has(text) || added.every((kind) => texts.has(textOf(kind, walk)))) return union;
  texts.add(text);
  union.anyOf.push(other);
  // It has another text now.
  walk.texts.delete(union);
  return union;
}

/** What is in a union that is nothing else; any other schema is one kind. */
function kindsOf(schema: JsonValue): readonly JsonValue[] {
  return isObject(schema) && Array.isArray(schema.anyOf) && Object.keys(schema).length === 1 ? schema.anyOf : [schema];
}

function textOf(schema: JsonValue, { texts }: Walk): string {
  const text = texts.get(schema) ?? JSON.stringify(schema);
  texts.set(schema, text);
  return text;
}

function branchesOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((branch): branch is JsonObject => isObject(branch)) : [];
}
