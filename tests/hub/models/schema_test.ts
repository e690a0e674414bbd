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
      },
    },
    schema: {
      type: "object",
      properties: {
        old: { type: "array", items: { anyOf: [text, { type: "number" }] }, additionalItems: false },
        new: { type: "array", items: { anyOf: [text, { type: "number" }] } },
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

const google: Record<string, { given: JsonObject; schema: unknown }> = {
  "types, bounds, formats": {
    given: {
      type: "object",
      title: "T",
      properties: {
        a: { type: "string", format: "email", minLength: 1, pattern: "^a" },
        b: { type: "string", format: "date-time", default: "x" },
        c: { type: "integer", minimum: 1, exclusiveMaximum: 9, multipleOf: 2 },
        d: { type: "array", items: { type: "boolean" }, maxItems: 3, uniqueItems: true },
        e: { type: "array", items: {} },
        f: { type: "object", additionalProperties: { type: "string" } },
        g: {},
      },
      required: ["a", "z"],
      additionalProperties: false,
    },
    schema: {
      type: "OBJECT",
      title: "T",
      properties: {
        a: { type: "STRING", pattern: "^a", minLength: 1 },
        b: { type: "STRING", format: "date-time" },
        c: { type: "INTEGER", minimum: 1 },
        d: { type: "ARRAY", maxItems: 3, items: { type: "BOOLEAN" } },
        e: { type: "ARRAY", items: { type: "STRING" } },
        f: { type: "OBJECT" },
        g: { type: "STRING" },
      },
      required: ["a"],
    },
  },
  "null, several types, unions": {
    given: {
      type: "object",
      properties: {
        a: { type: ["string", "null"], description: "A" },
        b: { type: ["string", "number"], description: "B" },
        c: { anyOf: [{ type: "string" }, { type: "null" }], description: "C" },
        d: { oneOf: [{ type: "string" }, { type: "number" }, { type: "null" }] },
      },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: { type: "STRING", description: "A", nullable: true },
        b: { description: "B", anyOf: [{ type: "STRING" }, { type: "NUMBER" }] },
        c: { type: "STRING", description: "C", nullable: true },
        d: { anyOf: [{ type: "STRING" }, { type: "NUMBER" }], nullable: true },
      },
    },
  },
  "allowed values": {
    given: {
      type: "object",
      properties: {
        a: { type: "string", enum: ["x", "y"] },
        b: { type: "integer", enum: [1, 2], description: "B" },
        c: { const: "only" },
        d: { enum: [true] },
      },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: { type: "STRING", enum: ["x", "y"] },
        b: { type: "INTEGER", description: "B (One of: 1, 2)" },
        c: { type: "STRING", enum: ["only"] },
        d: { type: "BOOLEAN", description: "One of: true" },
      },
    },
  },
  "references are filled in, circles end": {
    given: {
      type: "object",
      properties: { tree: { $ref: "#/$defs/node", description: "The tree" } },
      $defs: { node: { type: "object", properties: { left: { $ref: "#/$defs/node" }, name: { type: "string" } } } },
    },
    schema: {
      type: "OBJECT",
      properties: {
        tree: {
          type: "OBJECT",
          description: "The tree",
          properties: { left: { type: "OBJECT" }, name: { type: "STRING" } },
        },
      },
    },
  },
  "allOf is joined": {
    given: {
      type: "object",
      properties: {
        a: {
          description: "A",
          allOf: [{ $ref: "#/$defs/b" }, { properties: { c: { type: "number" } }, required: ["c"] }],
        },
      },
      $defs: { b: { type: "object", properties: { b: { type: "string" } }, required: ["b"] } },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: {
          type: "OBJECT",
          description: "A",
          properties: { b: { type: "STRING" }, c: { type: "NUMBER" } },
          required: ["b", "c"],
        },
      },
    },
  },
  "a type beside a union holds in each of its branches": {
    given: {
      type: "object",
      properties: {
        a: {
          type: "object",
          description: "A",
          properties: { id: { type: "string" }, name: { type: "string" } },
          anyOf: [{ required: ["id"] }, { required: ["name"] }],
        },
        b: { type: "integer", oneOf: [{ maximum: 0 }, { minimum: 10 }] },
        c: { type: "array", items: { type: "number" }, anyOf: [{ maxItems: 2 }, { type: "null" }] },
        d: { allOf: [{ properties: { x: { type: "string" } } }, { anyOf: [{ required: ["x"] }, { title: "T" }] }] },
      },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: {
          description: "A",
          anyOf: [
            { type: "OBJECT", properties: { id: { type: "STRING" }, name: { type: "STRING" } }, required: ["id"] },
            { type: "OBJECT", properties: { id: { type: "STRING" }, name: { type: "STRING" } }, required: ["name"] },
          ],
        },
        b: { anyOf: [{ type: "INTEGER", maximum: 0 }, { type: "INTEGER", minimum: 10 }] },
        c: { type: "ARRAY", maxItems: 2, items: { type: "NUMBER" }, nullable: true },
        d: {
          anyOf: [
            { type: "OBJECT", properties: { x: { type: "STRING" } }, required: ["x"] },
            { type: "OBJECT", title: "T", properties: { x: { type: "STRING" } } },
          ],
        },
      },
    },
  },
  "an empty text among allowed values is only told: the API refuses it": {
    given: { type: "object", properties: { a: { type: "string", enum: ["", "asc"] }, b: { const: "" } } },
    schema: {
      type: "OBJECT",
      properties: {
        a: { type: "STRING", description: 'One of: "", "asc"' },
        b: { type: "STRING", description: 'One of: ""' },
      },
    },
  },
};

describe("schemas for Google", () => {
  for (const [name, { given, schema }] of Object.entries(google)) {
    test(name, () => {
      assertEquals<unknown>(toGoogleSchema(toModelSchema(given).schema), schema);
    });
  }

  test("references that double at each level end, and it is told", () => {
    const link = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });
    const both = (at: number): JsonObject => ({
      type: "object",
      properties: { x: link(`n${at}`), y: { allOf: [link(`n${at}`)] } },
    });
    const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`n${at}`, both(at + 1)]));
    const { schema } = toModelSchema({ ...both(0), $defs: { ...$defs, n30: { type: "string" } } });
    const notes: string[] = [];
    const started = performance.now();
    const size = JSON.stringify(toGoogleSchema(schema, notes)).length;
    assertEquals(size < 1_000_000, true, `${size}`);
    assertEquals(performance.now() - started < 2000, true);
    assertEquals(notes, ["it is too large with its references and unions filled in: some of them are any object"]);
  });

  test("unions with properties beside them that multiply at each level end, and it is told", () => {
    let given: JsonObject = { type: "string" };
    const anyOf = Array.from({ length: 4 }, (_, at) => ({ title: `${at}` }));
    for (let level = 0; level < 14; level++) given = { type: "object", properties: { x: given }, anyOf };
    const { schema } = toModelSchema({ type: "object", properties: { x: given } });
    const notes: string[] = [];
    assertEquals(JSON.stringify(toGoogleSchema(schema, notes)).length < 1_000_000, true);
    assertEquals(notes.length, 1);
  });

  test("a root of unions of unions ends, and it is told", () => {
    const $defs = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [
      `n${at}`,
      { anyOf: Array.from({ length: 20 }, () => ({ $ref: `#/$defs/n${at + 1}` })) },
    ]));
    const started = performance.now();
    const { schema, notes } = toModelSchema({ $ref: "#/$defs/n0", $defs: { ...$defs, n9: { type: "object" } } });
    assertEquals(schema.type, "object");
    assertEquals(performance.now() - started < 2000, true);
    assertEquals(notes.includes("its root has too many branches: some of them are left out"), true);
  });
});
