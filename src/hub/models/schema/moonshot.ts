/**
 * Schemas as Moonshot takes them (Kimi, by whichever endpoint): it refuses a whole question for one that says no type somewhere, has
 * one beside a choice, or words beside a reference.
 *
 * @module
 */
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { eachSchema } from "./schema.ts";

/** Changes a schema of `toModelSchema`, in its place. Where it becomes looser, the server checks the arguments. */
export function fitMoonshot(root: JsonObject): void {
  eachSchema(root, (schema) => {
    // With a type in them they would say something else.
    for (const key of ["not", "if", "then", "else"]) delete schema[key];
    if (isEmpty(schema.additionalProperties)) schema.additionalProperties = true;
    if (typeof schema.$ref === "string") {
      for (const key of Object.keys(schema)) if (key !== "$ref") delete schema[key];
    } else if (schema.anyOf ?? schema.oneOf) fitChoice(schema);
    else if (schema.allOf === undefined) schema.type ??= typeOf(schema);
  });
}

function fitChoice(schema: Record<string, unknown>): void {
  const { type, properties, anyOf = schema.oneOf } = schema;
  const branches = (anyOf as unknown[]).filter(isObject);
  delete schema.oneOf;
  delete schema.anyOf;
  // Branches that say no more than which of its properties go together.
  const isPlain = isObject(properties) &&
    branches.every((branch) => !Object.keys(branch).some((key) => !/^(type|required|title|description)$/.test(key)));
  if (isPlain) {
    schema.type ??= "object";
    return;
  }
  delete schema.type;
  // They may stand elsewhere, too.
  schema.anyOf = branches.map((branch) => {
    const isTyped = type === undefined || ["$ref", "type", "anyOf", "oneOf", "allOf"].some((key) => key in branch);
    return isTyped ? branch : { type, ...branch };
  });
}

/** The type that a schema means which says none. */
function typeOf({ properties, items, enum: values, const: value }: Record<string, unknown>): string {
  if (properties !== undefined) return "object";
  if (items !== undefined) return "array";
  const [first] = Array.isArray(values) ? values : [value];
  return typeof first === "number" || typeof first === "boolean" ? typeof first : "string";
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
