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

/** Where the branches are, and how many were looked at. */
interface Walk {
  readonly root: JsonObject;
  branches: number;
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
  const walk: Walk = { root: schema, branches: 0 };
  const { properties, required } = shapeOf(schema, walk, 0);
  if (walk.branches > mostBranches) notes.push("its root has too many branches: some of them are left out");
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
    for (const [name, property] of shape.properties) properties.set(name, joinProperty(properties.get(name), property));
  };
  if (isObject(schema.properties)) {
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
function typeBehind(schema: JsonObject, walk: Walk, depth: number): JsonValue | undefined {
  if (schema.type !== undefined || depth >= deepest || ++walk.branches > mostBranches) return schema.type;
  const target = typeof schema.$ref === "string" ? resolve(schema.$ref, walk.root) : undefined;
  const branches = [target, ...[schema.allOf, schema.anyOf, schema.oneOf].flatMap(branchesOf)];
  const found = branches.flatMap((branch) =>
    branch && branch !== schema ? typeBehind(branch, walk, depth + 1) ?? [] : []
  );
  return found.includes("object") ? "object" : found[0];
}

function joinProperty(one: JsonValue | undefined, other: JsonValue): JsonValue {
  if (one === undefined || JSON.stringify(one) === JSON.stringify(other)) return other;
  const kinds = isObject(one) && Object.keys(one).length === 1 && Array.isArray(one.anyOf) ? one.anyOf : [one];
  if (kinds.some((kind) => JSON.stringify(kind) === JSON.stringify(other))) return one;
  return { anyOf: [...kinds, other] };
}

function branchesOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((branch): branch is JsonObject => isObject(branch)) : [];
}
