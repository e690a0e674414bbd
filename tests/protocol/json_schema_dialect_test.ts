import { describe, test } from "node:test";
import { assertEquals, assertThrows } from "@std/assert";
import {
  createPlainValidator,
  createSchemaValidator,
  type SchemaValidatorOptions,
} from "../../src/protocol/json_schema/mod.ts";
import type { JsonSchema } from "../../src/protocol/types.ts";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema";

/** For schemas to which nothing is supplied, and the whole one: they judge alike. */
const plain = createPlainValidator();
const whole = createSchemaValidator();

function fits(schema: JsonSchema, value: unknown, options: SchemaValidatorOptions = {}): boolean {
  const result = createSchemaValidator(options)(schema)(value);
  assertEquals(result.unchecked, undefined);
  return result.valid;
}

describe("draft-07", () => {
  test("a schema as zod-to-json-schema writes it", () => {
    const schema: JsonSchema = {
      $schema: DRAFT_07,
      $ref: "#/definitions/Result",
      definitions: {
        Result: {
          type: "object",
          properties: {
            items: { type: "array", items: { $ref: "#/definitions/Result/properties/node" } },
            node: { type: "object", properties: { id: { type: "integer", exclusiveMinimum: 0 } }, required: ["id"] },
            note: { anyOf: [{ type: "string" }, { type: "null" }] },
          },
          required: ["items"],
          additionalProperties: false,
        },
      },
    };
    assertEquals(fits(schema, { items: [{ id: 1 }], note: null }), true);
    assertEquals(fits(schema, { items: [{ id: 0 }] }), false);
    assertEquals(fits(schema, { items: [], more: 1 }), false);
  });

  test("what stands beside $ref does not count", () => {
    const schema: JsonSchema = {
      $schema: DRAFT_07,
      properties: { a: { $ref: "#/definitions/a", maxLength: 1 } },
      definitions: { a: { type: "string" } },
    };
    assertEquals(fits(schema, { a: "long" }), true);
    assertEquals(fits({ ...schema, $schema: DRAFT_2019 }, { a: "long" }), false);
  });

  test("tuples are arrays of items", () => {
    const schema: JsonSchema = {
      $schema: DRAFT_07,
      items: [{ type: "string" }, { type: "number" }],
      additionalItems: false,
    };
    assertEquals(fits(schema, ["a", 1]), true);
    assertEquals(fits(schema, ["a"]), true);
    assertEquals(fits(schema, [1]), false);
    assertEquals(fits(schema, ["a", 1, 2]), false);
    assertEquals(fits({ $schema: DRAFT_07, items: { type: "string" }, additionalItems: false }, ["a", "b"]), true);
  });

  test("dependencies are names or a schema", () => {
    const schema: JsonSchema = { $schema: DRAFT_07, dependencies: { a: ["b"], c: { required: ["d"] } } };
    assertEquals(fits(schema, { a: 1 }), false);
    assertEquals(fits(schema, { a: 1, b: 1 }), true);
    assertEquals(fits(schema, { c: 1 }), false);
    assertEquals(fits(schema, { c: 1, d: 1 }), true);
  });

  test("an $id that is a fragment is an anchor", () => {
    const schema: JsonSchema = {
      $schema: DRAFT_07,
      properties: { a: { $ref: "#name" } },
      definitions: { n: { $id: "#name", type: "string" } },
    };
    assertEquals(fits(schema, { a: "x" }), true);
    assertEquals(fits(schema, { a: 1 }), false);
  });

  test("an $id beside $ref does not move the base", () => {
    const schema: JsonSchema = {
      $schema: DRAFT_07,
      $id: "http://example.com/root.json",
      properties: { a: { $id: "http://example.com/other/", $ref: "#/definitions/text" } },
      definitions: { text: { type: "string" } },
    };
    assertEquals(fits(schema, { a: 1 }), false);
  });

  test("later keywords mean nothing", () => {
    const later: JsonSchema = {
      $schema: DRAFT_07,
      dependentRequired: { a: ["b"] },
      unevaluatedProperties: false,
      prefixItems: [false],
      contains: true,
      minContains: 5,
    };
    assertEquals(fits(later, { a: 1 }), true);
    assertEquals(fits(later, [1]), true);
  });

  test("if, const, contains and propertyNames are there; draft-06 too", () => {
    const schema: JsonSchema = {
      $schema: "http://json-schema.org/draft-06/schema",
      if: { properties: { kind: { const: "a" } }, required: ["kind"] },
      then: { required: ["x"] },
      else: { propertyNames: { maxLength: 4 } },
    };
    assertEquals(fits(schema, { kind: "a" }), false);
    assertEquals(fits(schema, { kind: "b", y: 1 }), true);
    assertEquals(fits(schema, { kind: "b", toolong: 1 }), false);
    assertEquals(fits({ $schema: DRAFT_07, contains: { const: 1 } }, [2, 3]), false);
  });
});

describe("2019-09", () => {
  const tree: JsonSchema = {
    $schema: DRAFT_2019,
    $id: "http://example.com/tree",
    $recursiveAnchor: true,
    type: "object",
    properties: { children: { type: "array", items: { $recursiveRef: "#" } } },
  };
  const strict: JsonSchema = {
    $schema: DRAFT_2019,
    $id: "http://example.com/strict-tree",
    $recursiveAnchor: true,
    $ref: "tree",
    unevaluatedProperties: false,
  };

  test("$recursiveRef leads to the outermost anchor", () => {
    const schemas = { "http://example.com/tree": tree };
    assertEquals(fits(strict, { children: [{ children: [] }] }, { schemas }), true);
    assertEquals(fits(strict, { children: [{ wrong: 1 }] }, { schemas }), false);
    assertEquals(fits(tree, { children: [{ wrong: 1 }] }), true);
    assertEquals(fits({ ...strict, $recursiveAnchor: false }, { children: [{ wrong: 1 }] }, { schemas }), true);
  });

  test("tuples are arrays of items, prefixItems means nothing", () => {
    assertEquals(fits({ $schema: DRAFT_2019, items: [true], unevaluatedItems: false }, [1, 2]), false);
    assertEquals(fits({ $schema: DRAFT_2019, prefixItems: [false] }, [1]), true);
  });
});

describe("the dialect", () => {
  test("is 2020-12 where none is named; older spellings that it forbids are read", () => {
    assertEquals(fits({ prefixItems: [{ type: "string" }] }, [1]), false);
    assertEquals(fits({ items: [{ type: "string" }] }, [1]), false);
    assertEquals(fits({ definitions: { a: { type: "string" } }, $ref: "#/definitions/a" }, 1), false);
  });

  test("is refused by name when it is unknown", () => {
    for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", "x"]) {
      assertThrows(() => createSchemaValidator()({ $schema }), TypeError, JSON.stringify($schema));
    }
    assertThrows(
      () => createSchemaValidator()({ $defs: { a: { $id: "a", $schema: "https://example.com/mine" } } }),
      TypeError,
      "mine",
    );
  });

  test("can be told", () => {
    const dialects = { "https://example.com/mine": "draft-07" } as const;
    const schema: JsonSchema = {
      $schema: "https://example.com/mine#",
      $ref: "#/definitions/a",
      maxLength: 1,
      definitions: { a: true },
    };
    assertEquals(fits(schema, "long", { dialects }), true);
  });

  test("of a supplied metaschema uses its vocabularies", () => {
    const vocabulary = "https://json-schema.org/draft/2020-12/vocab/";
    const metaschema = (more: Record<string, boolean>): SchemaValidatorOptions => ({
      schemas: { "https://example.com/mine": { $vocabulary: { [vocabulary + "applicator"]: true, ...more } } },
    });
    const schema: JsonSchema = { $schema: "https://example.com/mine", properties: { a: { minimum: 5 }, b: false } };
    assertEquals(fits(schema, { a: 1 }, metaschema({})), true);
    assertEquals(fits(schema, { a: 1 }, metaschema({ [vocabulary + "validation"]: true })), false);
    assertEquals(fits(schema, { b: 1 }, metaschema({ "https://example.com/vocabulary": false })), false);
    for (const needed of ["https://example.com/vocabulary", vocabulary + "format-assertion"]) {
      assertThrows(() => createSchemaValidator(metaschema({ [needed]: true }))(schema), TypeError, needed);
    }
  });
});

/** Only 2020-12 reads the first of these keywords, and draft-07 not the second. */
const body = {
  prefixItems: [{ type: "number" }],
  unevaluatedItems: { type: "string" },
  $defs: { old: { $schema: DRAFT_07, $id: "https://example.com/old", minContains: 2 } },
};

describe("a validator without metaschemas of the caller's", () => {
  const uris = [
    undefined,
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2020-12/schema#",
    "https://json-schema.org/draft/2020-12/vocab/core",
    DRAFT_2019,
    DRAFT_07,
    "http://json-schema.org/draft-06/schema",
  ];
  for (const $schema of uris) {
    test(`knows the dialect ${$schema}`, () => {
      const schema = { ...($schema !== undefined && { $schema }), ...body };
      const values = [["a"], [1], [1, "a"], ["a", 1], []];
      assertEquals(values.map(plain(schema)), values.map(whole(schema)));
      assertEquals(plain(schema)(["a"]).valid, !($schema ?? "2020").includes("2020"));
    });
  }

  for (
    const $schema of [
      "https://example.com/own",
      "https://json-schema.org/draft/2021-01/schema",
      "http://json-schema.org/draft-04/schema#",
    ]
  ) {
    test(`refuses the dialect ${$schema}`, () => {
      const { message } = assertThrows(() => plain({ $schema }), TypeError, `the dialect "${$schema}" is unknown`);
      assertThrows(() => whole({ $schema }), TypeError, message);
    });
  }
});
