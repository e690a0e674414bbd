/** Schemas made to hang or break a client: each ends within its budget of steps, and nothing throws but a TypeError at the start. */
import fc from "fast-check";
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createSchemaValidator } from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema } from "../../src/protocol/types.ts";
import type { Validation } from "../../src/protocol/validation.ts";

const STEPS = 100_000;

function run(schema: JsonSchema, value: unknown, steps = STEPS): { result: Validation } {
  return { result: createSchemaValidator({ steps })(schema)(value) };
}

/** The check gave up: the value is neither right nor wrong. */
function gaveUp(schema: JsonSchema, value: unknown): void {
  const { result } = run(schema, value);
  assert(result.valid && result.unchecked, JSON.stringify(result));
}

/** The check came to an end by itself, and so many steps were enough. */
function ended(schema: JsonSchema, value: unknown, valid: boolean, atMost: number): void {
  const { result } = run(schema, value, atMost);
  assertEquals([result.valid, result.unchecked], [valid, undefined]);
}

function nested<Value>(depth: number, wrap: (inner: Value) => Value, inner: Value): Value {
  for (let level = 0; level < depth; level++) inner = wrap(inner);
  return inner;
}

function ladder(rungs: number, rung: (next: JsonSchema) => JsonSchema): JsonSchema {
  const $defs: Record<string, JsonSchema> = { [`d${rungs}`]: { type: "string" } };
  for (let index = 0; index < rungs; index++) $defs[`d${index}`] = rung({ $ref: `#/$defs/d${index + 1}` });
  return { $defs, $ref: "#/$defs/d0" };
}

function keys(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

describe("schema bombs", () => {
  const text = "a".repeat(5_000) + "!";

  test("1 nested quantifiers", () => {
    ended({ pattern: "^(a+)+$" }, text, false, 5_000);
    ended({ pattern: "^" + "(".repeat(40) + "a+" + ")+".repeat(40) + "$" }, text, false, 30_000);
  });
  test("2 ambiguous alternatives", () => ended({ pattern: "^(a|a|aa)*$" }, text, false, 10_000));
  test("3 back-references", () => gaveUp({ pattern: "^(a+)\\1+$" }, text));
  test("counted repeats of counted repeats", () => gaveUp({ pattern: "(((a{0,100}){0,100}){0,100})!" }, text));
  test("a count that is never closed", () => {
    // One that looked for its end from each digit anew would take minutes.
    for (const count of ["{", "{1,"]) gaveUp({ pattern: `a${count}${"1".repeat(200_000)}` }, "x");
  });
  test("a long text", () => gaveUp({ pattern: "(x+x+)+y" }, "x".repeat(1_000_000)));
  test("4 allOf that doubles 34 times", () => gaveUp(ladder(34, (next) => ({ allOf: [next, next] })), 1));
  test("oneOf of 8, 10 times", () => gaveUp(ladder(10, (next) => ({ oneOf: new Array(8).fill(next) })), 1));
  test("5 references to themselves", () => {
    gaveUp({ $ref: "#" }, 1);
    gaveUp({ allOf: [{ $ref: "#" }, { $ref: "#" }] }, 1);
    gaveUp({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }, 1);
    gaveUp({ not: { $ref: "#" } }, 1);
  });
  test("6 a loop of $dynamicRef", () =>
    gaveUp({ $dynamicAnchor: "x", anyOf: [{ $dynamicRef: "#x" }, { $dynamicRef: "#x" }] }, 1));
  test("7 20,000 levels, in the schema and in the value", () => {
    const value: unknown = nested<unknown>(20_000, (inner) => [inner], 1);
    for (const keyword of ["not", "items", "contains", "additionalProperties"]) {
      const schema = nested<JsonSchema>(20_000, (inner) => ({ [keyword]: inner }), true);
      assertThrows(() => run(schema, value), TypeError, "Cannot use the schema: its ");
      createSchemaValidator({ subschemas: 1_000_000, bytes: 10_000_000 })(schema)(value);
    }
    gaveUp({ items: { $ref: "#" } }, value);
    gaveUp({ contains: { $ref: "#" } }, value);
    gaveUp({ uniqueItems: true }, [value, value]);
    gaveUp({ const: [1] }, value);
    const schema: JsonSchema = { enum: [JSON.parse("[".repeat(20_000) + "]".repeat(20_000))] };
    assertThrows(() => run(schema, value), TypeError, "enum");
  });
  test("8 an enum of a million", () => {
    const schema: JsonSchema = { enum: Array.from({ length: 1_000_000 }, (_, index) => index) };
    assertThrows(() => run(schema, 5), TypeError, "262144");
    const check = createSchemaValidator({ bytes: 100_000_000 })(schema);
    assertEquals([check(999_999).valid, check(-1).valid], [true, false]);
    ended({ enum: Array.from({ length: 20_000 }, (_, index) => [index]) }, [19_999], true, 10);
  });
  test("9 patternProperties", () => {
    const names = Array.from({ length: 900 }, (_, index) => [`(a|b|k)*${index}`, true]);
    gaveUp({ patternProperties: Object.fromEntries(names) }, keys(5_000));
    ended({ propertyNames: { pattern: "(.*)*x" } }, keys(1_000), false, 10_000);
  });
  test("10 dependentSchemas", () => {
    const dependents = Array.from({ length: 600 }, (_, index) => [`k${index}`, { $ref: "#" }]);
    gaveUp({ dependentSchemas: Object.fromEntries(dependents) }, keys(600));
  });
  test("11 unevaluated keywords", () => {
    const branch: JsonSchema = { anyOf: [{ properties: { a: true } }, { additionalProperties: true }] };
    ended({ allOf: new Array(100).fill(branch), unevaluatedProperties: false }, keys(5_000), true, 2_000);
    const each: JsonSchema = { anyOf: [{ properties: { a: true } }, { patternProperties: { k: true } }] };
    gaveUp({ allOf: new Array(100).fill(each), unevaluatedProperties: false }, keys(5_000));
    gaveUp(
      { anyOf: new Array(500).fill({ contains: { type: "number" } }), unevaluatedItems: false },
      new Array(5_000).fill(1),
    );
  });
  test("12 contains, nested and of long arrays", () => {
    const deep = nested<JsonSchema>(4, (contains) => ({ contains }), { const: 1 });
    gaveUp(deep, nested<unknown>(4, (inner) => new Array(40).fill(inner), 0));
    gaveUp({ contains: { const: -1 }, uniqueItems: true }, Array.from({ length: 60_000 }, (_, index) => [index]));
    gaveUp({ uniqueItems: true }, Array.from({ length: 30_000 }, (_, index) => ({ index })));
  });
  test("13 huge numbers", () => {
    ended({ minItems: 1e308 }, [], false, 10);
    ended({ maxLength: 1e308, minLength: 1e300 }, "x", false, 10);
    ended({ items: true, unevaluatedItems: false }, new Array(1_000_000).fill(1), true, 10);
    ended({ multipleOf: 1e-320 }, 1.7e308, true, 10);
  });
  test("14 references to other hosts", () => {
    for (const $ref of ["http://127.0.0.1:9/x", "file:///etc/passwd", "//evil.example/x"]) {
      assertThrows(() => run({ $ref }, 1), TypeError, $ref);
    }
  });
  test("values too large for the budget", () => {
    gaveUp({ items: { type: "number" } }, new Array(200_000).fill(1));
    gaveUp({ maxProperties: 3 }, keys(200_000));
    gaveUp({ maxLength: 3_000_000, minLength: 2_000_000 }, "😀".repeat(2_000_000));
  });
  test("a pattern with thousands of Unicode properties", () => {
    gaveUp({ pattern: "^[^" + "\\p{L}\\p{N}".repeat(2_000) + "]*$" }, "é".repeat(1_000));
  });

  test("any schema made of the keywords ends", () => {
    const keywords =
      "$ref $dynamicRef $dynamicAnchor $id $defs allOf anyOf oneOf not if then else items prefixItems contains properties patternProperties additionalProperties propertyNames dependentSchemas unevaluatedItems unevaluatedProperties type enum const minimum minLength pattern minItems uniqueItems required minProperties"
        .split(" ");
    const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.dictionary(
          fc.constantFrom(...keywords),
          fc.oneof(
            tie("schema"),
            fc.array(tie("schema"), { maxLength: 3 }),
            fc.dictionary(fc.constantFrom("a", "b", "^a|b$", "__proto__"), tie("schema"), { maxKeys: 3 }),
            fc.constantFrom("#", "#a", "a", "object", "array", "^(a|b)*$", "(a)\\1"),
            fc.integer({ min: -1, max: 3 }),
            fc.array(fc.constantFrom("a", "b"), { maxLength: 2 }),
          ),
          { maxKeys: 5 },
        ),
      ),
    }));
    fc.assert(
      fc.property(schema, fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
        let check;
        try {
          check = createSchemaValidator({ steps: 2_000 })(schema);
        } catch (error) {
          return assert(error instanceof TypeError && error.message.startsWith("Cannot use the schema"), String(error));
        }
        const result = check(value);
        assert(result.valid || result.issues.length > 0);
      }),
      { numRuns: 600, interruptAfterTimeLimit: 1_000, markInterruptAsFailure: false },
    );
  });
});
