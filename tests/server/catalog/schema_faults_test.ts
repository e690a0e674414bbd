import fc from "fast-check";
import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { createSchemaValidator } from "../../../src/protocol/json_schema/mod.ts";
import { createLateValidator } from "../../../src/server/catalog/late_validator.ts";
import { findSchemaFault, isPlain } from "../../../src/server/catalog/schema_faults.ts";

const validator = createSchemaValidator();

describe("faults of a schema", () => {
  test("each kind of keyword is held to what it takes", () => {
    const wrong: [keyword: string, value: unknown, expected: string][] = [
      ["type", [], "one of string, number, integer, boolean, null, object, array"],
      ["type", ["string", "text"], "one of string, number, integer, boolean, null, object, array"],
      ["type", { not: "type" }, "one of string, number, integer, boolean, null, object, array"],
      ["required", [1], "a list of names"],
      ["enum", "a", "a list"],
      ["pattern", 5, "a string"],
      ["format", {}, "a string"],
      ["minimum", "1", "a number"],
      ["exclusiveMaximum", true, "a number"],
      ["maxLength", 1.5, "a whole number, 0 or more"],
      ["minItems", -1, "a whole number, 0 or more"],
      ["maxProperties", "2", "a whole number, 0 or more"],
      ["minContains", null, "a whole number, 0 or more"],
      ["uniqueItems", "yes", "a boolean"],
      ["items", [5], "a schema"],
      ["not", [], "a schema"],
      ["unevaluatedProperties", "no", "a schema"],
      ["anyOf", {}, "a list of schemas"],
      ["oneOf", [null], "a list of schemas"],
      ["properties", { a: [] }, "an object of schemas"],
      ["properties", { a: ["b"] }, "an object of schemas"],
      ["dependentSchemas", { a: 5 }, "an object of schemas"],
      ["$defs", [], "an object of schemas"],
    ];
    for (const [keyword, value, expected] of wrong) {
      assertEquals(findSchemaFault({ [keyword]: value }, validator), { path: `/${keyword}`, value, expected });
      const inside = { properties: { a: { anyOf: [true, { [keyword]: value }] } } };
      assertEquals(findSchemaFault(inside, validator)?.path, `/properties/a/anyOf/1/${keyword}`);
    }
  });

  test("names of properties and data are no keywords", () => {
    const schema = {
      properties: { type: { const: { type: 5 } }, minimum: { enum: [{ items: 5 }] }, required: true },
      dependencies: { type: ["minimum"] },
      default: { type: 5 },
      minWords: "own",
      toString: 5,
    };
    assertEquals(findSchemaFault(schema, validator), undefined);
  });

  test("a schema without a fault is read and understood", () => {
    const keywords = ["type", "enum", "const", "minimum", "maxLength", "minItems", "maxProperties", "pattern", "format"]
      .concat(["items", "prefixItems", "contains", "minContains", "properties", "patternProperties", "propertyNames"])
      .concat(["additionalProperties", "required", "dependencies", "dependentRequired", "allOf", "not", "if", "then"])
      .concat(["unevaluatedItems", "uniqueItems", "multipleOf", "definitions", "contentSchema", "title", "own"]);
    const { schema } = fc.letrec<{ schema: unknown; part: unknown; value: unknown }>((tie) => ({
      schema: fc.dictionary(fc.constantFrom(...keywords), tie("value"), { maxKeys: 4 }),
      part: fc.oneof({ maxDepth: 3 }, fc.boolean(), tie("schema"), fc.constantFrom(5, null, "a")),
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(0, 1, -1, 0.5, "a", "string", "(", true, null),
        fc.array(fc.constantFrom("string", "a", "object"), { maxLength: 2 }),
        tie("part"),
        fc.array(tie("part"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("a", "b"), tie("part"), { maxKeys: 2 }),
      ),
    }));
    let sound = 0;
    fc.assert(
      fc.property(schema, fc.json().map((text) => JSON.parse(text)), (schema, value) => {
        if (findSchemaFault(schema, validator)) return;
        sound++;
        const eager = validator(schema as JsonObject)(value);
        assert(!eager.unchecked?.some((line) => line.includes("not understood")), JSON.stringify([schema, eager]));
        assertEquals(createLateValidator()(schema as JsonObject)(value), eager);
      }),
      { numRuns: 3_000 },
    );
    assert(sound > 300, `${sound} schemas without a fault`);
  });
});

describe("a validator that reads late", () => {
  test("refuses at once what may lead nowhere, and what is too large", () => {
    const make = createLateValidator();
    assertThrows(() => make({ $ref: "#/$defs/none" }), TypeError, "leads to nothing");
    assertThrows(() => make({ $schema: "https://example.org/own" }), TypeError, "is unknown");
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, at) => [`p${at}`, true]));
    assertThrows(() => make({ properties: many }), TypeError, "sub-schemas exceed");
  });

  test("holds values against what it read, each time", () => {
    const check = createLateValidator()({ type: "object", required: ["a"] });
    assertEquals([check({ a: 1 }).valid, check({}).valid, check({ a: null }).valid], [true, false, true]);
  });
});

describe("plain schemas", () => {
  test("have types, properties, required names and words alone", () => {
    const address = { type: "object", properties: { street: { type: "string", title: "Street" } } };
    const properties = { name: { type: "string", description: "Who" }, address, nothing: {} };
    assert(isPlain({ type: "object", description: "A person", properties, required: ["name"] }));
    const others: unknown[] = [
      { type: ["string", "null"] },
      { type: "text" },
      { type: "toString" },
      { type: [["string"]] },
      { required: [1] },
      { required: "name" },
      { properties: [] },
      { properties: { a: true } },
      { properties: { a: { enum: [1] } } },
      { properties: { a: { properties: { b: { type: 5 } } } } },
      { $ref: "#" },
      { pattern: "(" },
      { note: "unknown keywords are left to the other" },
      true,
      null,
      [],
    ];
    for (const schema of others) assertEquals(isPlain(schema), false, JSON.stringify(schema));
  });

  test("have no fault that the whole search would find", () => {
    const type = fc.oneof(fc.constantFrom("string", "object", "array", "text", "__proto__"), fc.json());
    const { schema } = fc.letrec((tie) => ({
      schema: fc.record({
        type,
        title: fc.string(),
        required: fc.oneof(fc.array(fc.string()), fc.jsonValue({ maxDepth: 1 })),
        properties: fc.oneof(fc.dictionary(fc.string(), tie("schema"), { maxKeys: 3 }), fc.jsonValue({ maxDepth: 1 })),
      }, { requiredKeys: [] }),
    }));
    let plain = 0;
    fc.assert(
      fc.property(schema, (schema) => {
        if (!isPlain(schema)) return;
        plain++;
        assertEquals(findSchemaFault(schema, validator), undefined);
      }),
      { numRuns: 500 },
    );
    assert(plain > 20, `${plain} were plain`);
  });
});
