import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { toGoogleSchema } from "../../../src/hub/models/schema/google.ts";
import { toModelSchema } from "../../../src/hub/models/schema/schema.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

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
  "values of several kinds, with and without their types": {
    given: {
      type: "object",
      properties: {
        a: { enum: [1, "auto", null], description: "A" },
        b: { type: ["string", "integer"], enum: ["auto", 2] },
        c: { type: ["boolean", "string"], enum: ["on", "off"] },
      },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: {
          anyOf: [
            { type: "NUMBER", description: "A: One of: 1", nullable: true },
            { type: "STRING", enum: ["auto"], nullable: true },
          ],
        },
        b: { anyOf: [{ type: "STRING", enum: ["auto"] }, { type: "INTEGER", description: "One of: 2" }] },
        c: { type: "STRING", enum: ["on", "off"] },
      },
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
        b: { anyOf: [{ type: "STRING", description: "B" }, { type: "NUMBER" }] },
        c: { type: "STRING", description: "C", nullable: true },
        d: { anyOf: [{ type: "STRING", nullable: true }, { type: "NUMBER", nullable: true }] },
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
          anyOf: [
            {
              type: "OBJECT",
              description: "A",
              properties: { id: { type: "STRING" }, name: { type: "STRING" } },
              required: ["id"],
            },
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
  "nothing stands beside a choice: Vertex AI refuses it": {
    given: {
      type: "object",
      properties: {
        a: {
          description: "A",
          anyOf: [
            { type: "string", description: "name" },
            { anyOf: [{ type: "integer" }, { type: "boolean" }] },
            { type: "null" },
          ],
        },
        b: { description: "B", anyOf: [{ type: ["string", "number"], title: "T" }, { type: "null" }] },
      },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: {
          anyOf: [
            { type: "STRING", description: "A: name", nullable: true },
            { type: "INTEGER", nullable: true },
            { type: "BOOLEAN", nullable: true },
          ],
        },
        b: { anyOf: [{ type: "STRING", description: "B", nullable: true }, { type: "NUMBER", nullable: true }] },
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
  "null among allowed values without a type": {
    given: {
      type: "object",
      properties: { a: { enum: ["asc", null] }, b: { enum: [null, 1] }, c: { const: null }, d: { enum: ["asc"] } },
    },
    schema: {
      type: "OBJECT",
      properties: {
        a: { type: "STRING", nullable: true, description: 'One of: "asc", null' },
        b: { type: "NUMBER", nullable: true, description: "One of: null, 1" },
        c: { type: "NULL", description: "One of: null" },
        d: { type: "STRING", enum: ["asc"] },
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
    const took = stopwatch();
    const size = JSON.stringify(toGoogleSchema(schema, notes)).length;
    assertEquals(size < 1_000_000, true, `${size}`);
    // A billion of them would not end; a machine may stand still for seconds.
    assertEquals(took() < 10_000, true);
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
    const took = stopwatch();
    const { schema, notes } = toModelSchema({ $ref: "#/$defs/n0", $defs: { ...$defs, n9: { type: "object" } } });
    assertEquals(schema.type, "object");
    // All its branches would not end either.
    assertEquals(took() < 10_000, true);
    assertEquals(notes.includes("its root has too many branches: some of them are left out"), true);
  });

  test("a root whose branches have very much in common ends, and it is told", () => {
    const properties = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`p${at}`, { type: "string" }]));
    const many = Array.from({ length: 299 }, (_, at) => at);
    const ways = Object.fromEntries(many.map((at) => [`to${at}`, { $ref: "#/$defs/large" }]));
    const $defs = { large: { type: "object", properties }, ...ways };
    // As much work as branches times what each of them has would be a minute.
    for (
      const root of [
        { allOf: many.map(() => ({ $ref: "#/$defs/large" })), $defs },
        { anyOf: many.map((at) => ({ $ref: `#/$defs/to${at}` })), $defs },
      ]
    ) {
      const { schema, notes } = toModelSchema(root);
      assertEquals(Object.keys(schema.properties as JsonObject).length, 40_000);
      assertEquals(notes.includes("its root has too many branches: some of them are left out"), true);
    }
  });

  test("each kind of a property that branches have is there once, however many there are", () => {
    const kind = (at: number) => ({ enum: Array.from({ length: 1_000 }, (_, n) => n * (at % 200)) });
    const branches = Array.from({ length: 250 }, (_, at) => ({ properties: { a: kind(at) } }));
    const two = { anyOf: [{ properties: { a: kind(3) } }, { properties: { a: kind(7) } }] };
    const { schema } = toModelSchema({ type: "object", anyOf: [...branches, two, two] });
    const kinds = Array.from({ length: 200 }, (_, at) => kind(at));
    assertEquals(schema.properties, { a: { anyOf: kinds } });
    const own = { anyOf: [{ type: "string" }, { type: "null" }] };
    const joined = (...given: JsonObject[]) =>
      toModelSchema({ type: "object", allOf: given.map((a) => ({ properties: { a } })) }).schema.properties;
    assertEquals(joined(own, own, { type: "null" }), { a: own });
    assertEquals(joined({ type: "null" }, own, own), { a: { anyOf: [{ type: "null" }, own] } });
    assertEquals(joined(own, { type: "array", items: {} }), {
      a: { anyOf: [...own.anyOf, { type: "array", items: {} }] },
    });
    // One that grows after it was the same as another one is not that any more.
    const has = (a: JsonObject, more?: JsonObject[]) => ({ properties: { a }, ...(more && { anyOf: more }) });
    const [text, none, flag] = [{ type: "string" }, { type: "null" }, { type: "boolean" }];
    const grown = has(own, [{ anyOf: [has(text), has(none)] }, has(flag)]);
    assertEquals(
      toModelSchema({ type: "object", anyOf: [has({ type: "integer" }), has(own), grown] }).schema.properties,
      {
        a: { anyOf: [{ type: "integer" }, own, { anyOf: [text, none, flag] }] },
      },
    );
  });

  test("very many names, and very many parts of an `allOf`, are joined in a moment", () => {
    const names = Array.from({ length: 30_000 }, (_, at) => `p${at}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const parts = names.map((name) => ({ properties: { [name]: { type: "string" } }, required: [name] }));
    const large = { type: "object", properties, required: names.toReversed() };
    const refs = names.slice(0, 1_000).map(() => ({ $ref: "#/$defs/large" }));
    // Work that grows with the square takes minutes here.
    for (const given of [large, { allOf: parts }, { allOf: refs }]) {
      const root = { type: "object", properties: { a: given }, $defs: { large } };
      const { a } = toGoogleSchema(toModelSchema(root).schema).properties ?? {};
      assertEquals([Object.keys(a?.properties ?? {}).length, a?.required?.length], [30_000, 30_000]);
    }
  });

  test("of what is said twice in an `allOf` the later word counts", () => {
    const $defs = { one: { title: "one", properties: { a: { type: "string" } }, required: ["a"] } };
    const allOf = [{ $ref: "#/$defs/one", title: "beside" }, { properties: { a: { type: "integer" }, b: {} } }];
    const { schema } = toModelSchema({ type: "object", properties: { x: { allOf, required: ["b"] } }, $defs });
    assertEquals(toGoogleSchema(schema).properties?.x, {
      type: "OBJECT",
      title: "beside",
      properties: { a: { type: "INTEGER" }, b: { type: "STRING" } },
      required: ["a", "b"],
    });
    const one = { $ref: "#/$defs/one" };
    const twice = { allOf: [one, { title: "other", properties: { a: { type: "boolean" } } }, one, one] };
    const again = toModelSchema({ type: "object", properties: { x: twice }, $defs });
    assertEquals(toGoogleSchema(again.schema).properties?.x, {
      type: "OBJECT",
      title: "one",
      properties: { a: { type: "STRING" } },
      required: ["a"],
    });
  });
});
