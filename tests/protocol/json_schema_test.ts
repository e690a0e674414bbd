import { describe, test } from "node:test";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createSchemaValidator, type SchemaValidatorOptions } from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema } from "../../src/protocol/types.ts";
import type { Validation } from "../../src/protocol/validation.ts";

function check(schema: JsonSchema, value: unknown, options: SchemaValidatorOptions = {}): Validation {
  return createSchemaValidator(options)(schema)(value);
}

/** True or false when the validator is sure, else "unchecked". */
function verdict(schema: JsonSchema, value: unknown, options: SchemaValidatorOptions = {}): boolean | "unchecked" {
  const result = check(schema, value, options);
  return result.unchecked ? "unchecked" : result.valid;
}

/** A schema or value as it comes from the wire: `__proto__` is an ordinary key there. */
function parsed(text: string): { [key: string]: never } {
  return JSON.parse(text);
}

describe("issues of a JSON Schema check", () => {
  test("name place, keyword and expectation", () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        temperature: { type: ["number", "null"] },
        humidity: { type: "integer", maximum: 100 },
        tags: { items: { minLength: 2 } },
        unit: { enum: ["C", "F"] },
      },
      required: ["temperature", "place"],
      additionalProperties: false,
    };
    const result = check(schema, { temperature: "warm", humidity: 130, tags: ["ok", "a"], unit: "K", "a/b~c": 1 });
    assertEquals(result, {
      valid: false,
      issues: [
        { path: "", keyword: "required", message: 'must have the property "place"' },
        { path: "/temperature", keyword: "type", message: "must be of the type number or null" },
        { path: "/humidity", keyword: "maximum", message: "must be at most 100" },
        { path: "/tags/1", keyword: "minLength", message: "must have a length of at least 2" },
        { path: "/unit", keyword: "enum", message: 'must be one of "C", "F"' },
        { path: "/a~1b~0c", keyword: "additionalProperties", message: "must not be there" },
      ],
    });
  });

  test("of alternatives are one issue", () => {
    const result = check({ anyOf: [{ type: "string" }, { properties: { a: { type: "string" } } }] }, { a: 1 });
    assertEquals(result, {
      valid: false,
      issues: [{ path: "", keyword: "anyOf", message: "must fit at least one of its schemas" }],
    });
  });

  test("are at most 20", () => {
    const result = check({ items: { type: "string" } }, new Array(1000).fill(1));
    assert(!result.valid);
    assertEquals(result.issues.length, 20);
  });

  test("never hold the value", () => {
    const result = check({ type: "string", const: "x", pattern: "^y" }, "secret");
    assert(!result.valid && result.issues.length === 2);
    assert(!JSON.stringify(result).includes("secret"));
  });
});

describe("JSON Schema values", () => {
  test("decimals are multiples as decimals", () => {
    for (const [value, divisor] of [[0.3, 0.1], [19.99, 0.01], [1e308, 0.5], [4.35, 0.05], [0, 7], [-0.6, 0.2]]) {
      assertEquals(verdict({ multipleOf: divisor }, value), true, `${value} / ${divisor}`);
    }
    for (const [value, divisor] of [[0.35, 0.1], [1e-8, 1e-7], [1e308, 0.123456789], [Infinity, 2]]) {
      assertEquals(verdict({ multipleOf: divisor }, value), false, `${value} / ${divisor}`);
    }
  });

  test("objects are equal without regard to the order of keys", () => {
    const schema: JsonSchema = { enum: [{ a: [1, { b: null, c: "x" }], d: 0 }] };
    assertEquals(verdict(schema, { d: -0, a: [1.0, { c: "x", b: null }] }), true);
    assertEquals(verdict(schema, { d: 0, a: [{ c: "x", b: null }, 1] }), false);
    assertEquals(verdict({ enum: ['{"a":1}', "[1]", "1"] }, { a: 1 }), false);
    assertEquals(verdict({ const: { a: 1 } }, '{"a":1}'), false);
    assertEquals(verdict({ uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }]), false);
    assertEquals(verdict({ uniqueItems: true }, [1, "1", true, "true", null, [1], ["1"]]), true);
  });

  test("lengths count code points", () => {
    assertEquals(verdict({ minLength: 2, maxLength: 2 }, "😀😀"), true);
    assertEquals(verdict({ minLength: 3 }, "😀😀"), false);
    assertEquals(verdict({ maxLength: 1 }, "😀😀"), false);
  });

  test("a property that is undefined is absent, as JSON leaves it out", () => {
    const schema: JsonSchema = { properties: { a: { type: "string" } }, required: ["b"], additionalProperties: false };
    assertEquals(verdict(schema, { a: undefined, b: undefined }), false);
    const open: JsonSchema = { properties: { a: { type: "string" } }, maxProperties: 1, additionalProperties: false };
    assertEquals(verdict(open, { a: "x", c: undefined }), true);
  });

  test("names that objects inherit are ordinary names", () => {
    const schema = parsed(
      '{"properties":{"__proto__":{"type":"number"},"constructor":{"type":"number"}},"required":["toString"]}',
    );
    assertEquals(check(schema, parsed('{"__proto__":"x","constructor":1}')), {
      valid: false,
      issues: [
        { path: "", keyword: "required", message: 'must have the property "toString"' },
        { path: "/__proto__", keyword: "type", message: "must be of the type number" },
      ],
    });
    assertEquals(verdict(schema, parsed('{"__proto__":1,"constructor":1,"toString":1}')), true);
    assertEquals(verdict({ additionalProperties: false }, parsed('{"__proto__":1}')), false);
    assertEquals(verdict({ unevaluatedProperties: false }, parsed('{"constructor":1}')), false);
    assertEquals(verdict({ required: ["constructor"] }, {}), false);
    assertEquals(verdict({ dependentRequired: parsed('{"__proto__":["x"]}') }, {}), true);
    assertEquals(verdict({ enum: [parsed('{"__proto__":1}')] }, {}), false);
    assertEquals(verdict({ type: "toString" }, "x"), "unchecked");
    assertEquals(Object.hasOwn(Object.prototype, "polluted"), false);
    check({ properties: parsed('{"__proto__":{"polluted":true}}') }, parsed('{"__proto__":{"polluted":1}}'));
    assertEquals(Object.hasOwn(Object.prototype, "polluted"), false);
  });

  test("that are no JSON do not throw", () => {
    for (const value of [undefined, 1n, Symbol("s"), () => 1, NaN, Infinity, new Map(), new Date()]) {
      check({ type: "string", enum: ["a"], uniqueItems: true, multipleOf: 2 }, value);
      check({ enum: [[1]], uniqueItems: true, items: { multipleOf: 0.1 } }, [value, value, [value]]);
    }
  });
});

describe("what cannot be judged", () => {
  const unsure: JsonSchema = { pattern: "(a)\\1" };

  test("is named and passes", () => {
    assertEquals(check(unsure, "b"), {
      valid: true,
      unchecked: ["pattern (a)\\1 cannot be checked in linear time"],
    });
  });

  test("does not make right or wrong what hangs on it", () => {
    assertEquals(verdict({ not: unsure }, "b"), "unchecked");
    assertEquals(verdict({ not: { not: unsure } }, "b"), "unchecked");
    assertEquals(verdict({ oneOf: [unsure, true] }, "b"), "unchecked");
    assertEquals(verdict({ if: unsure, then: false }, "b"), "unchecked");
    assertEquals(verdict({ contains: unsure, maxContains: 0, minContains: 0 }, ["b"]), "unchecked");
    assertEquals(
      verdict({ patternProperties: { "(a)\\1": true }, additionalProperties: false }, { b: 1 }),
      "unchecked",
    );
    assertEquals(
      verdict({ anyOf: [{ properties: { a: unsure } }], unevaluatedProperties: false }, { a: "b" }),
      "unchecked",
    );
  });

  test("leaves alone what does not hang on it", () => {
    assertEquals(verdict(unsure, 1), true);
    assertEquals(verdict({ anyOf: [unsure, { type: "string" }] }, "b"), true);
    assertEquals(check({ oneOf: [unsure, true, true] }, "b").valid, false);
    assertEquals(check({ ...unsure, type: "number" }, "b").valid, false);
    assertEquals(check({ allOf: [unsure, { maxLength: 0 }] }, "b").valid, false);
    assertEquals(check({ patternProperties: { "(a)\\1": true }, required: ["x"] }, { b: 1 }).valid, false);
  });

  test("are keywords of the wrong shape", () => {
    for (const keyword of ["minimum", "required", "pattern", "allOf", "type", "properties", "enum"]) {
      assertEquals(verdict({ [keyword]: true }, {}), "unchecked", keyword);
    }
  });

  test("is what is left when the budget runs out; issues found before stay", () => {
    const steps = { steps: 50 };
    const many = new Array(100).fill("x");
    assertEquals(check({ items: { type: "string" } }, many, steps), {
      valid: true,
      unchecked: ["the check was ended after 50 steps"],
    });
    const broken = check({ required: ["a"], properties: { b: { items: true, contains: { type: "number" } } } }, {
      b: many,
    }, steps);
    assert(!broken.valid);
    assertEquals(broken.issues.map((issue) => issue.keyword), ["required"]);
    assertEquals(broken.unchecked, ["the check was ended after 50 steps"]);
  });

  test("is what nests too deep; the option moves the bound", () => {
    let schema: JsonSchema = { type: "string" };
    for (let level = 0; level < 40; level++) schema = { allOf: [schema] };
    assertEquals(verdict(schema, 1), "unchecked");
    assertEquals(verdict(schema, 1, { depth: 40 }), false);
  });
});

describe("references", () => {
  test("that lead outside are refused with their name, and nothing is fetched", () => {
    const outside = [
      "http://127.0.0.1:9/a.json",
      "https://example.com/s",
      "file:///etc/passwd",
      "//host/x",
      "other.json",
      "urn:x:y",
      "#/nowhere",
      "#nowhere",
      "http://[",
    ];
    for (const reference of outside) {
      for (const keyword of ["$ref", "$dynamicRef"]) {
        const error = assertThrows(
          () => createSchemaValidator()({ properties: { a: { [keyword]: reference } } }),
          TypeError,
        );
        assertStringIncludes(error.message, JSON.stringify(reference));
      }
    }
    assertThrows(
      () => createSchemaValidator()({ $id: "http://127.0.0.1:9/base/", items: { $ref: "part.json" } }),
      TypeError,
      '"part.json"',
    );
  });

  test("find supplied schemas", () => {
    const schemas = { "https://example.com/name": { $defs: { short: { $anchor: "short", maxLength: 3 } } } };
    assertEquals(verdict({ $ref: "https://example.com/name#short" }, "abcd", { schemas }), false);
    assertEquals(verdict({ $ref: "https://example.com/name#/$defs/short" }, "abc", { schemas }), true);
  });

  test("find supplied schemas that are true or false, and parts that are", () => {
    const schemas = { "https://example.com/no": false, "https://example.com/yes": true };
    assertEquals(verdict({ $ref: "https://example.com/no" }, 1, { schemas }), false);
    assertEquals(verdict({ $ref: "https://example.com/yes" }, 1, { schemas }), true);
    assertEquals(verdict({ $ref: "#/$defs/no", $defs: { no: false } }, 1), false);
  });

  test("read fragments with a percent sign of their own", () => {
    assertEquals(verdict({ $ref: "#/$defs/50%", $defs: { "50%": false } }, 1), false);
    assertEquals(verdict({ $ref: "#/$defs/a%20b", $defs: { "a b": false } }, 1), false);
  });

  test("lead nowhere in what is not in use: it is not looked at", () => {
    assertEquals(verdict({ $defs: { a: { $ref: "#/nowhere" } } }, 1), true);
  });

  test("find the same part of a schema that JavaScript shares", () => {
    const shared: JsonSchema = { type: "string" };
    const schema: JsonSchema = { properties: { a: shared, b: shared } };
    assertEquals(verdict(schema, { a: "x", b: "y" }), true);
    assertEquals(verdict(schema, { a: "x", b: 1 }), false);
  });
});

describe("limits of a schema", () => {
  test("bytes and sub-schemas", () => {
    const large = { description: "x".repeat(300_000) };
    assertThrows(() => createSchemaValidator()(large), TypeError, "262144");
    assertEquals(verdict(large, 1, { bytes: 400_000 }), true);
    const wide = { allOf: new Array(2_000).fill(0).map(() => ({})) };
    assertThrows(() => createSchemaValidator()(wide), TypeError, "2000");
    assertEquals(verdict(wide, 1, { subschemas: 3_000 }), true);
  });

  test("what is no schema is refused", () => {
    for (const text of ["1", '"x"', "null", "[]", '{"items":3}', '{"properties":{"a":"string"}}', '{"not":null}']) {
      assertThrows(() => createSchemaValidator()(JSON.parse(text)), TypeError, "Cannot use the schema");
    }
  });
});
