/** The validator against an oracle that is too simple to be wrong, over random schemas and values. */
import fc from "fast-check";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { createSchemaValidator } from "../../src/protocol/json_schema/mod.ts";

type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

interface Simple {
  [keyword: string]: Value;
}

const names = fc.constantFrom("a", "b", "c");
const scalars = fc.constantFrom<Value>(null, true, false, 0, 1, 2, 1.5, "", "a", "ab", "abc");
const { value, schema } = fc.letrec<{ value: Value; schema: Simple }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(names, tie("value"), { maxKeys: 3 }),
  ),
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ type: fc.constantFrom("null", "boolean", "number", "integer", "string", "array", "object") }),
    fc.record({ enum: fc.array(scalars, { minLength: 1, maxLength: 4 }) }),
    fc.record({ const: tie("value") }),
    fc.record({ minimum: fc.integer({ min: 0, max: 2 }), maxLength: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ minItems: fc.integer({ min: 0, max: 2 }), uniqueItems: fc.boolean() }),
    fc.record({ required: fc.array(names, { maxLength: 2 }), maxProperties: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ properties: fc.dictionary(names, tie("schema"), { maxKeys: 2 }), additionalProperties: tie("schema") }),
    fc.record({ items: tie("schema") }),
    fc.record({ contains: tie("schema") }),
    fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie("schema") }),
    fc.record({ if: tie("schema"), then: tie("schema"), else: tie("schema") }),
    fc.record({ propertyNames: tie("schema") }),
  ).map((simple) => ({ ...simple })),
}));

test("the validator agrees with a simple oracle", () => {
  const validator = createSchemaValidator();
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (schema, values) => {
      const check = validator(JSON.parse(JSON.stringify(schema)));
      for (const value of values) {
        const result = check(value);
        assertEquals([result.valid, result.unchecked], [fits(schema, value), undefined]);
      }
    }),
    { numRuns: 1_000, interruptAfterTimeLimit: 1_000, markInterruptAsFailure: false },
  );
});

test("a value equals its copy with its keys in another order", () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const check = createSchemaValidator()(JSON.parse(JSON.stringify({ const: one })));
      assertEquals(check(reversed(one)).valid, true);
      assertEquals(check(other).valid, same(one, other));
    }),
    { numRuns: 500, interruptAfterTimeLimit: 500, markInterruptAsFailure: false },
  );
});

function fits(schema: Value | undefined, value: Value): boolean {
  if (schema === undefined || schema === null || typeof schema !== "object" || Array.isArray(schema)) return true;
  return Object.entries(schema).every(([keyword, rule]) => keep(keyword, rule, schema, value));
}

function keep(keyword: string, rule: Value, schema: { [key: string]: Value }, value: Value): boolean {
  const rules = Array.isArray(rule) ? rule : [];
  const limit = typeof rule === "number" ? rule : 0;
  const list = Array.isArray(value) ? value : undefined;
  const record = value !== null && typeof value === "object" && !list ? value as { [key: string]: Value } : undefined;
  switch (keyword) {
    case "type":
      return rule === (list ? "array" : value === null ? "null" : typeof value) ||
        (rule === "integer" && Number.isInteger(value));
    case "enum":
      return rules.some((one) => same(one, value));
    case "const":
      return same(rule, value);
    case "minimum":
      return typeof value !== "number" || value >= limit;
    case "maxLength":
      return typeof value !== "string" || value.length <= limit;
    case "minItems":
      return !list || list.length >= limit;
    case "uniqueItems":
      return !list || rule !== true ||
        list.every((one, index) => list.findIndex((other) => same(one, other)) === index);
    case "required":
      return !record || rules.every((name) => typeof name === "string" && name in record);
    case "maxProperties":
      return !record || Object.keys(record).length <= limit;
    case "properties":
      return !record || Object.entries(record).every(([name, item]) => fits(inside(rule, name), item));
    case "additionalProperties":
      return !record ||
        Object.entries(record).every(([name, item]) =>
          inside(schema.properties, name) !== undefined || fits(rule, item)
        );
    case "propertyNames":
      return !record || Object.keys(record).every((name) => fits(rule, name));
    case "items":
      return !list || list.every((item) => fits(rule, item));
    case "contains":
      return !list || list.some((item) => fits(rule, item));
    case "allOf":
      return rules.every((inner) => fits(inner, value));
    case "anyOf":
      return rules.some((inner) => fits(inner, value));
    case "oneOf":
      return rules.filter((inner) => fits(inner, value)).length === 1;
    case "not":
      return !fits(rule, value);
    case "if":
      return fits(fits(rule, value) ? schema.then : schema.else, value);
  }
  return true;
}

function inside(schemas: Value | undefined, name: string): Value | undefined {
  return schemas !== null && typeof schemas === "object" && !Array.isArray(schemas) ? schemas[name] : undefined;
}

function same(one: Value, other: Value): boolean {
  if (one === null || other === null || typeof one !== "object" || typeof other !== "object") return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [left, right] = [Object.entries(one), new Map(Object.entries(other))];
  return left.length === right.size &&
    left.every(([key, item]) => right.has(key) && same(item, right.get(key) ?? null));
}

function reversed(value: Value): Value {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(Object.entries(value).reverse().map(([key, item]) => [key, reversed(item)]));
}
