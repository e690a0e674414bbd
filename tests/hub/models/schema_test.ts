import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { toGoogleSchema } from "../../../src/hub/models/schema/google.ts";
import { toModelSchema } from "../../../src/hub/models/schema/schema.ts";

interface Case {
  readonly given: unknown;
  readonly schema: JsonObject;
  readonly notes?: readonly string[];
}

const text = { type: "string" };
const cases: Record<string, Case> = {
  "an empty schema": { given: {}, schema: { type: "object", properties: {} } },
  "words that say nothing to a model go": {
    given: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "urn:a",
      $comment: "c",
      "x-mcp-header": "A",
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": "Region", $id: "urn:b" } },
      additionalProperties: false,
    },
    schema: { type: "object", properties: { region: text }, additionalProperties: false },
  },
  "properties may be called like words": {
    given: { type: "object", properties: { $schema: text, "x-a": text, id: text, enum: text } },
    schema: { type: "object", properties: { $schema: text, "x-a": text, id: text, enum: text } },
  },
  "values are no schemas": {
    given: { properties: { a: { const: { $schema: 1 }, default: { "x-a": 1 }, enum: [{ $id: "a" }] } } },
    schema: {
      properties: { a: { const: { $schema: 1 }, default: { "x-a": 1 }, enum: [{ $id: "a" }] } },
      type: "object",
    },
  },
  "object or null is an object": {
    given: { type: ["object", "null"] },
    schema: { type: "object", properties: {} },
  },
  "true is anything, false is nothing": {
    given: { type: "object", properties: { a: true, b: false }, additionalProperties: true },
    schema: { type: "object", properties: { a: {} }, additionalProperties: true },
  },
  "a list has items": {
    given: { type: "object", properties: { a: { type: "array" }, b: { type: "array", items: true } } },
    schema: { type: "object", properties: { a: { type: "array", items: {} }, b: { type: "array", items: {} } } },
  },
  "what may be a list has items": {
    given: { type: "object", properties: { a: { type: ["array", "null"] }, b: { type: ["string", "array"] } } },
    schema: {
      type: "object",
      properties: { a: { type: ["array", "null"], items: {} }, b: { type: ["string", "array"], items: {} } },
    },
  },
  "patterns that no program can read go, and it is told: LangChain could not call the tool": {
    given: {
      type: "object",
      properties: { a: { type: "string", pattern: "^[a-z\\_]+$" }, b: { type: "string", pattern: "^[a-z_]+$" } },
      patternProperties: { "(?i)^x": text, "^x": text },
      additionalProperties: false,
    },
    schema: {
      type: "object",
      properties: { a: text, b: { type: "string", pattern: "^[a-z_]+$" } },
      patternProperties: { "^x": text },
    },
    notes: [
      '/properties/a: "pattern" is not what JSON Schema allows there',
      '/patternProperties: "(?i)^x" is no regular expression',
    ],
  },
  "bounds of older drafts go, and it is told": {
    given: {
      type: "object",
      properties: { a: { type: "number", minimum: 0, exclusiveMinimum: true }, b: { type: "string", minLength: "1" } },
    },
    schema: { type: "object", properties: { a: { type: "number", minimum: 0 }, b: text } },
    notes: [
      '/properties/a: "exclusiveMinimum" is not what JSON Schema allows there',
      '/properties/b: "minLength" is not what JSON Schema allows there',
    ],
  },
  "what the schema of schemas refuses goes, and it is told": {
    given: {
      type: "object",
      properties: {
        a: { type: ["string", "string"], examples: { one: { value: "x" } }, deprecated: "yes", minLength: -1 },
        b: { type: "number", multipleOf: 0, readOnly: 1, examples: [1], deprecated: true },
        c: { type: "array", uniqueItems: "no", maxItems: 1.5, items: text, dependentRequired: ["a"] },
      },
      required: ["a", "a"],
      dependentRequired: { a: ["b"] },
    },
    schema: {
      type: "object",
      properties: {
        a: { type: ["string"] },
        b: { type: "number", examples: [1], deprecated: true },
        c: { type: "array", items: text },
      },
      required: ["a"],
      dependentRequired: { a: ["b"] },
    },
    notes: [
      ...['a: "examples', 'a: "deprecated', 'a: "minLength', 'b: "multipleOf', 'b: "readOnly'],
      ...['c: "uniqueItems', 'c: "maxItems', 'c: "dependentRequired'],
    ].map((field) => `/properties/${field}" is not what JSON Schema allows there`),
  },
  "tuples of both drafts become lists": {
    given: {
      type: "object",
      properties: {
        old: { type: "array", items: [text, { type: "number" }], additionalItems: false },
        new: { type: "array", prefixItems: [text, { type: "number" }], items: false },
        rest: { type: "array", prefixItems: [text], items: { type: "number" } },
        oldRest: { type: "array", items: [text], additionalItems: { type: "number" } },
        any: { type: "array", prefixItems: [text], items: true },
      },
    },
    schema: {
      type: "object",
      properties: {
        old: { type: "array", items: { anyOf: [text, { type: "number" }] }, additionalItems: false },
        new: { type: "array", items: { anyOf: [text, { type: "number" }] } },
        rest: { type: "array", items: { anyOf: [text, { type: "number" }] } },
        oldRest: {
          type: "array",
          items: { anyOf: [text, { type: "number" }] },
          additionalItems: { type: "number" },
        },
        any: { type: "array", items: { anyOf: [text] } },
      },
    },
  },
  "what is no schema is anything": {
    given: { type: "object", properties: { a: "string", b: { type: "text", enum: [], required: true } } },
    schema: { type: "object", properties: { a: {}, b: {} } },
    notes: [
      "/properties/a: it is no schema",
      '/properties/b: "type" is not what JSON Schema allows there',
      '/properties/b: "enum" is not what JSON Schema allows there',
      '/properties/b: "required" is not what JSON Schema allows there',
    ],
  },
  "references stay where they lead somewhere": {
    given: {
      type: "object",
      properties: {
        own: { $ref: "#/$defs/a" },
        root: { $ref: "#" },
        lost: { $ref: "#/$defs/b", description: "B" },
        far: { $ref: "https://example.com/a.json" },
      },
      $defs: { a: text },
    },
    schema: {
      type: "object",
      properties: { own: { $ref: "#/$defs/a" }, root: { $ref: "#" }, lost: { description: "B" }, far: {} },
      $defs: { a: text },
    },
    notes: [
      'the reference "#/$defs/b" leads nowhere in it',
      'the reference "https://example.com/a.json" leads nowhere in it',
    ],
  },
  "unions at the root are joined": {
    given: {
      oneOf: [
        { type: "object", properties: { id: { type: "number" }, kind: text }, required: ["id", "kind"] },
        { type: "object", properties: { name: text, kind: { type: "boolean" } }, required: ["name", "kind"] },
      ],
    },
    schema: {
      type: "object",
      properties: { id: { type: "number" }, kind: { anyOf: [text, { type: "boolean" }] }, name: text },
      required: ["kind"],
    },
    notes: ["the alternatives of its root are joined into one"],
  },
  "references to anchors become pointers": {
    given: {
      type: "object",
      properties: {
        named: { $ref: "#a" },
        older: { $ref: "#b" },
        lost: { $ref: "#c" },
        $anchor: { type: "string" },
      },
      $defs: { "x/y~z%41": { $anchor: "a", type: "string" }, old: { $id: "#b", type: "string" } },
    },
    schema: {
      type: "object",
      properties: {
        named: { $ref: "#/$defs/x~1y~0z%2541" },
        older: { $ref: "#/$defs/old" },
        lost: {},
        $anchor: { type: "string" },
      },
      $defs: { "x/y~z%41": { type: "string" }, old: { type: "string" } },
    },
    notes: ['the reference "#c" leads nowhere in it'],
  },
  "an anchor that several schemas have leads nowhere: each is that of another resource": {
    given: {
      type: "object",
      properties: { one: { $ref: "#/$defs/one" }, two: { $ref: "#/$defs/two" } },
      $defs: Object.fromEntries(["one", "two"].map((name) => [name, {
        $id: `https://example.com/${name}`,
        items: { $ref: "#item" },
        $defs: { item: { $anchor: "item", const: name } },
      }])),
    },
    schema: {
      type: "object",
      properties: { one: { $ref: "#/$defs/one" }, two: { $ref: "#/$defs/two" } },
      $defs: Object.fromEntries(["one", "two"].map((name) => [name, {
        items: {},
        $defs: { item: { const: name } },
      }])),
    },
    notes: ['the reference "#item" leads nowhere in it', 'the reference "#item" leads nowhere in it'],
  },
  "a reference at the root to an anchor is joined": {
    given: { $ref: "#base", $defs: { base: { $anchor: "base", type: "object", properties: { a: text } } } },
    schema: {
      type: "object",
      properties: { a: text },
      $defs: { base: { type: "object", properties: { a: text } } },
    },
  },
  "allOf and a reference at the root are joined": {
    given: {
      allOf: [{ $ref: "#/$defs/base" }, { properties: { b: text }, required: ["b"] }],
      $defs: { base: { type: "object", properties: { a: text }, required: ["a"] } },
    },
    schema: {
      type: "object",
      properties: { a: text, b: text },
      required: ["a", "b"],
      $defs: { base: { type: "object", properties: { a: text }, required: ["a"] } },
    },
  },
  "a reference at the root that leads to itself": {
    given: { $ref: "#", type: "object", properties: { a: text } },
    schema: { type: "object", properties: { a: text } },
  },
};

describe("schemas for models", () => {
  for (const [name, { given, schema, notes = [] }] of Object.entries(cases)) {
    test(name, () => {
      const before = JSON.stringify(given);
      assertEquals(toModelSchema(given), { schema, notes });
      assertEquals(JSON.stringify(given), before, "the catalog is not touched");
    });
  }

  test("a property of any name is a property", () => {
    const given = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    const made = toModelSchema(given).schema;
    assertEquals(JSON.stringify(made), '{"type":"object","properties":{"__proto__":{"type":"string"}}}');
    assertEquals(
      JSON.stringify(toGoogleSchema(made)),
      '{"type":"OBJECT","properties":{"__proto__":{"type":"STRING"}}}',
    );
  });

  test("what is no schema of an object is refused", () => {
    assertThrows(() => toModelSchema("string"), TypeError, "its inputSchema is no object");
    assertThrows(() => toModelSchema(null), TypeError, "its inputSchema is no object");
    assertThrows(() => toModelSchema({ type: "array" }), TypeError, 'of type "array", expected "object"');
    let deep: JsonObject = {};
    for (let level = 0; level < 5000; level++) deep = { type: "object", properties: { a: deep } };
    assertThrows(() => toModelSchema(deep), TypeError, "more than 64 levels deep");
  });
});
