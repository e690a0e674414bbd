/** Any schema, however wrong: it becomes one that providers take, or it is refused; it never breaks the set. */
import { test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { isObject } from "../../../src/protocol/json_rpc.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { type GoogleSchema, toGoogleSchema } from "../../../src/hub/models/schema/google.ts";
import { resolve } from "../../../src/hub/models/schema/reference.ts";
import { toModelSchema } from "../../../src/hub/models/schema/schema.ts";

/** Numbers that are the same in each run (mulberry32). */
function createChance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const keywords = [
  "$schema",
  "$id",
  "$ref",
  "$defs",
  "$comment",
  "type",
  "properties",
  "required",
  "items",
  "prefixItems",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "then",
  "additionalProperties",
  "patternProperties",
  "format",
  "pattern",
  "description",
  "title",
  "default",
  "nullable",
  "minimum",
  "maxLength",
  "x-mcp-header",
  "dependentSchemas",
  "contains",
]; // deno-fmt-ignore
const values = [
  null, true, false, 0, -1.5, "", "string", "object", ["string", "null"], ["object"], [], {}, "#", "#/$defs/a", "#/nowhere", ["a"],
  [1, "x", null], "array", "integer", "date-time", "https://example.com/schema.json",
]; // deno-fmt-ignore

function randomSchema(chance: (below: number) => number, depth: number): unknown {
  if (depth === 0 || chance(8) === 0) return values[chance(values.length)];
  const inner = () => randomSchema(chance, depth - 1);
  const made: Record<string, unknown> = {};
  for (let count = chance(5); count > 0; count--) {
    const key = keywords[chance(keywords.length)] ?? "";
    const kind = chance(4);
    made[key] = kind === 0
      ? values[chance(values.length)]
      : kind === 1
      ? [inner(), inner()]
      : kind === 2
      ? { a: inner(), $ref: inner(), "b c": inner() }
      : inner();
  }
  if (chance(2) === 0) made.type = "object";
  return made;
}

test("3,000 random schemas", () => {
  const chance = createChance(20261120);
  let taken = 0;
  for (let count = 0; count < 3000; count++) {
    const given = randomSchema(chance, 5);
    const before = JSON.stringify(given);
    const made = attempt(given);
    assertEquals(JSON.stringify(given), before, "what is given is not touched");
    if (!made) continue;
    taken++;
    checkSchema(made, made, before);
    assert(made.type === "object" && isObject(made.properties), before);
    for (const union of ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"]) assert(!(union in made), before);
    checkGoogle(toGoogleSchema(made), before);
  }
  assert(taken > 1000, `${taken} were taken`);
});

function attempt(given: unknown): JsonObject | undefined {
  try {
    return toModelSchema(given).schema;
  } catch (error) {
    assert(error instanceof TypeError && error.message.startsWith("its inputSchema"), String(error));
    return undefined;
  }
}

/** What every provider wants of a schema. */
function checkSchema(schema: unknown, root: JsonObject, given: string): void {
  if (typeof schema === "boolean") return;
  assert(isObject(schema), given);
  assert(Object.keys(schema).every((key) => !/^(\$schema|\$id|\$comment|x-.*|prefixItems)$/.test(key)), given);
  if (schema.$ref !== undefined) assert(resolve(String(schema.$ref), root) !== undefined, given);
  if ([schema.type].flat().includes("array")) assert(isObject(schema.items), given);
  for (const key of ["properties", "patternProperties", "$defs", "dependentSchemas"]) {
    const held = schema[key];
    if (held === undefined) continue;
    assert(isObject(held), given);
    for (const one of Object.values(held)) checkSchema(one, root, given);
  }
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const held = schema[key];
    if (held === undefined) continue;
    assert(Array.isArray(held) && held.length > 0, given);
    for (const one of held) checkSchema(one, root, given);
  }
  for (const key of ["items", "not", "if", "then", "additionalProperties", "contains"]) {
    if (schema[key] !== undefined) checkSchema(schema[key], root, given);
  }
}

function checkGoogle(schema: GoogleSchema, given: string): void {
  assert(schema.type !== undefined || schema.anyOf !== undefined, given);
  // Vertex AI refuses what has anything beside a choice.
  if (schema.anyOf) assertEquals(Object.keys(schema), ["anyOf"], given);
  if (schema.type === "ARRAY") assert(schema.items !== undefined, given);
  if (schema.enum) assert(schema.type === "STRING" && schema.enum.length > 0, given);
  for (const name of schema.required ?? []) assert(Object.hasOwn(schema.properties ?? {}, name), given);
  const inside = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
  ];
  for (const one of inside) checkGoogle(one, given);
}
