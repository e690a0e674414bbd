import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { LimitExceededError } from "../../src/protocol/errors.ts";
import {
  decodeHeaderValue,
  encodeHeaderValue,
  mirroredName,
  modernHeaders,
  parameterHeaders,
  readHeaderRules,
} from "../../src/protocol/headers.ts";
import type { HeaderRule } from "../../src/protocol/headers.ts";
import { stopwatch } from "../support/clocks/stopwatch.ts";

const sentinel = /^=\?base64\?(.*)\?=$/;
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc.array(
    fc.constantFrom("=?base64?", "?=", "=", "?", "YQ==", " ", "\t", "\r\n", "a", "é", "\u007f", "\0", "\ufeff", "😀"),
    { maxLength: 8 },
  )
    .map((parts) => parts.join("")),
);

function rulesOf(inputSchema: unknown): HeaderRule[] {
  const read = readHeaderRules(inputSchema);
  assertEquals(read.invalid, undefined);
  return read.rules;
}

function reason(inputSchema: unknown): string {
  const read = readHeaderRules(inputSchema);
  assert(read.invalid !== undefined, JSON.stringify(read));
  return read.invalid;
}

describe("header values", () => {
  test("what is safe goes as it is", () => {
    for (const text of ["", "us-west1", "a b", "~!@#$%^&*()_+{}|", "=?base64?", "?=", "=?base64?YQ==", "YQ==?="]) {
      assertEquals(encodeHeaderValue(text), text);
      assertEquals(decodeHeaderValue(text), text);
    }
    assertEquals([0, -0, -7, 2 ** 53 - 1].map(encodeHeaderValue), ["0", "0", "-7", "9007199254740991"]);
    assertEquals([true, false].map(encodeHeaderValue), ["true", "false"]);
  });

  test("what is not safe goes as base64 over UTF-8, padded", () => {
    const cases: [string, string][] = [
      ["Hello, 世界", "SGVsbG8sIOS4lueVjA=="],
      [" padded ", "IHBhZGRlZCA="],
      ["line1\nline2", "bGluZTEKbGluZTI="],
      ["\tindented", "CWluZGVudGVk"],
      ["inner\ttab", "aW5uZXIJdGFi"],
      ["é", "w6k="],
      ["\u007f", "fw=="],
      ["=?base64?YQ==?=", "PT9iYXNlNjQ/WVE9PT89"],
      ["\ufeffx", "77u/eA=="],
    ];
    for (const [text, payload] of cases) {
      assertEquals(encodeHeaderValue(text), `=?base64?${payload}?=`);
      assertEquals(decodeHeaderValue(`=?base64?${payload}?=`), text);
    }
  });

  test("a text that only looks like the marked form because its ends overlap is marked too, and refused as it stands", () => {
    assertEquals(decodeHeaderValue(encodeHeaderValue("=?base64?=")), "=?base64?=");
    assert(sentinel.test(encodeHeaderValue("=?base64?=")));
    assertEquals(decodeHeaderValue("=?base64?="), undefined);
  });

  test("what is marked and is no padded base64 of UTF-8 is refused", () => {
    for (const payload of ["YQ", "YQ=", "Y Q==", "YR==", "_-8=", "YQ==\n", "/w==", "7aCA", "wIA=", "!"]) {
      assertEquals(decodeHeaderValue(`=?base64?${payload}?=`), undefined, payload);
    }
    assertEquals(decodeHeaderValue("=?BASE64?YQ==?="), "=?BASE64?YQ==?=");
    assertEquals(decodeHeaderValue("=?base64??="), "");
  });

  test("numbers that are no safe integers and half surrogate pairs are refused", () => {
    for (const value of [1.5, NaN, Infinity, 2 ** 53, "\ud83d", "a\udc00b"]) {
      assertThrows(() => encodeHeaderValue(value), TypeError, "into a header");
    }
  });

  test("any well-formed text comes back, as visible ASCII without spaces at the ends, and no two are the same", () => {
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const encoded = encodeHeaderValue(text);
        assert(/^[\x20-\x7e]*$/.test(encoded) && encoded === encoded.trim(), JSON.stringify(encoded));
        assertEquals(decodeHeaderValue(encoded), text);
        assertEquals(new Headers({ "x-test": encoded }).get("x-test"), encoded);
        assertEquals(encodeHeaderValue(other) === encoded, other === text);
      }),
      { numRuns: 4_000 },
    );
  });

  test("any header value at all is decoded or refused", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary-ascii" }), (text) => {
        for (const value of [text, `=?base64?${text}?=`]) {
          const decoded = decodeHeaderValue(value);
          assert(decoded === undefined || decodeHeaderValue(encodeHeaderValue(decoded)) === decoded);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("headers of a modern request", () => {
  const revision = "2026-07-28";

  test("version and method are always there, the name by method", () => {
    const cases: [string, Record<string, unknown> | undefined, string | undefined][] = [
      ["tools/call", { name: "create_issue", uri: "no" }, "create_issue"],
      ["prompts/get", { name: "daily" }, "daily"],
      ["resources/read", { uri: "file:///a b", name: "no" }, "file:///a b"],
      ["tasks/get", { taskId: "t-1" }, "t-1"],
      ["tasks/update", { taskId: "t-1" }, "t-1"],
      ["tasks/cancel", { taskId: "t-1" }, "t-1"],
      ["tools/list", { name: "no" }, undefined],
      ["server/discover", undefined, undefined],
      ["constructor", { name: "no" }, undefined],
      ["tools/call", { name: 7 }, undefined],
    ];
    for (const [method, params, name] of cases) {
      const expected: Record<string, string> = { "mcp-protocol-version": revision, "mcp-method": method };
      if (name !== undefined) expected["mcp-name"] = name;
      assertEquals(modernHeaders(method, params, revision, encodeHeaderValue), expected);
      assertEquals(mirroredName(method, params), name);
    }
  });

  test("a name that is not safe is encoded, an empty one is sent", () => {
    assertEquals(
      modernHeaders("tools/call", { name: "größe" }, revision, encodeHeaderValue)["mcp-name"],
      "=?base64?Z3LDtsOfZQ==?=",
    );
    assertEquals(modernHeaders("tools/call", { name: "" }, revision, encodeHeaderValue)["mcp-name"], "");
    assertEquals(
      modernHeaders("a\r\nX-Evil: 1", {}, revision, encodeHeaderValue)["mcp-method"],
      "=?base64?YQ0KWC1FdmlsOiAx?=",
    );
  });

  test("a name of as many characters as the limit is taken, one more is not", () => {
    const name = "x".repeat(4_096);
    assertEquals(modernHeaders("tools/call", { name }, revision, encodeHeaderValue)["mcp-name"], name);
    const error = assertThrows(
      () => modernHeaders("tools/call", { name: name + "x" }, revision, encodeHeaderValue),
      LimitExceededError,
    );
    assertEquals([error.limit, error.value, error.seen, error.delivery], [
      "limits.headerBytes",
      4_096,
      4_097,
      "not-sent",
    ]);
    assertThrows(
      () => modernHeaders("tools/call", { name: "abc" }, revision, encodeHeaderValue, { headerBytes: 2 }),
      LimitExceededError,
    );
  });
});

describe("x-mcp-header: what a schema says", () => {
  const text = (name: unknown): Record<string, unknown> => ({ type: "string", "x-mcp-header": name });
  const schema = (properties: Record<string, unknown>): Record<string, unknown> => ({ type: "object", properties });

  test("annotated properties at any depth become rules", () => {
    const rules = rulesOf(schema({
      region: text("Region"),
      plain: { type: "string" },
      "x-mcp-header": { type: "string" },
      nested: schema({
        properties: { type: "integer", "x-mcp-header": "Deep-1" },
        default: { type: "boolean", "x-mcp-header": "D" },
      }),
    }));
    assertEquals(rules, [
      { path: ["region"], header: "mcp-param-region", type: "string" },
      { path: ["nested", "properties"], header: "mcp-param-deep-1", type: "integer" },
      { path: ["nested", "default"], header: "mcp-param-d", type: "boolean" },
    ]);
  });

  test("no annotations, no rules; what is no schema has none either", () => {
    for (
      const given of [
        schema({}),
        {},
        { type: "object" },
        undefined,
        null,
        true,
        "x",
        [text("A")],
        schema({ a: true, b: null }),
      ]
    ) {
      assertEquals(readHeaderRules(given), { rules: [] });
    }
  });

  test("very many are read in a moment, and each name is there once", () => {
    const names = Array.from({ length: 100_000 }, (_, at) => `h${at}`);
    const given = schema(Object.fromEntries(names.map((name) => [name, text(name)])));
    // Work that grows with the square takes minutes here.
    const took = stopwatch();
    assertEquals(readHeaderRules(given).rules.length, 100_000);
    assertEquals(
      reason(schema({ ...given.properties as object, again: text("H99999") })).includes("stands twice"),
      true,
    );
    assert(took() < 10_000);
  });

  test("a name has to be a header name", () => {
    for (const name of ["", "a b", "a:b", "a\r\nb", "é", 7, null, true, { toString: 1 }, ["a"]]) {
      assert(reason(schema({ a: text(name) })).includes("is no header name"), JSON.stringify(name));
    }
    assertEquals(rulesOf(schema({ a: text("!#$%&'*+.^_`|~-09azAZ") })).length, 1);
  });

  test("a name must not come twice, whatever its case", () => {
    assert(reason(schema({ a: text("Region"), b: schema({ c: text("REGION") }) })).includes("twice"));
  });

  test("only strings, integers and booleans may carry one", () => {
    for (const type of ["number", "object", "array", "null", undefined, ["string"], ["string", "null"]]) {
      assert(
        reason(schema({ a: { type, "x-mcp-header": "A" } })).includes("no string, integer or boolean"),
        String(type),
      );
    }
  });

  test("it has to be reached by properties alone", () => {
    const inner = text("A");
    const places: Record<string, unknown>[] = [
      { "x-mcp-header": "A", type: "string" },
      { items: inner },
      { prefixItems: [inner] },
      { additionalProperties: inner },
      { patternProperties: { "^a": inner } },
      { oneOf: [inner] },
      { anyOf: [{}, inner] },
      { allOf: [schema({ a: inner })] },
      { not: inner },
      { if: inner },
      { then: schema({ a: inner }) },
      { else: inner },
      { $defs: { default: inner } },
      { definitions: { a: inner } },
      { dependentSchemas: { a: schema({ b: inner }) } },
      { contains: inner },
      { propertyNames: inner },
      schema({ a: { type: "array", items: schema({ b: inner }) } }),
      schema({ a: { $ref: "#/$defs/a" }, b: { $defs: { a: inner } } }),
    ];
    for (const place of places) {
      assert(reason({ type: "object", ...place }).includes('is not below "properties" alone'), JSON.stringify(place));
    }
  });

  test("data and names are no annotations", () => {
    const data = { "x-mcp-header": "A" };
    const rules = rulesOf({
      ...schema({ a: { type: "string", default: data, const: data, enum: [data], examples: [data] } }),
      patternProperties: { "x-mcp-header": { type: "string" } },
      dependentRequired: { "x-mcp-header": ["a"] },
      required: ["x-mcp-header"],
    });
    assertEquals(rules, []);
  });

  test("a reason stays short", () => {
    assert(reason(schema({ a: text(" ".repeat(100_000)) })).length < 200);
  });
});

describe("x-mcp-header: what a call sends", () => {
  const rules: HeaderRule[] = [
    { path: ["text"], header: "mcp-param-text", type: "string" },
    { path: ["deep", "count"], header: "mcp-param-count", type: "integer" },
    { path: ["flag"], header: "mcp-param-flag", type: "boolean" },
  ];

  test("values are sent, also the empty, 0 and false", () => {
    assertEquals(parameterHeaders(rules, { text: "é", deep: { count: -3 }, flag: true, other: {} }), {
      "mcp-param-text": "=?base64?w6k=?=",
      "mcp-param-count": "-3",
      "mcp-param-flag": "true",
    });
    assertEquals(parameterHeaders(rules, { text: "", deep: { count: 0 }, flag: false }), {
      "mcp-param-text": "",
      "mcp-param-count": "0",
      "mcp-param-flag": "false",
    });
  });

  test("null, absent and inherited values are not", () => {
    for (
      const args of [undefined, null, {}, { text: null, deep: null, flag: null }, { deep: {} }, { deep: 7 }, {
        deep: [1],
      }]
    ) {
      assertEquals(parameterHeaders(rules, args), {});
    }
    const inherited: HeaderRule[] = [{ path: ["constructor", "name"], header: "mcp-param-a", type: "string" }];
    assertEquals(parameterHeaders(inherited, {}), {});
  });

  test("a value of another type is refused by the argument's name", () => {
    for (const args of [{ text: 1 }, { text: {} }, { text: false }]) {
      assertThrows(() => parameterHeaders(rules, args), TypeError, '"text": expected string');
    }
    for (const count of ["1", 1.5, 2 ** 53, NaN, true]) {
      assertThrows(() => parameterHeaders(rules, { deep: { count } }), TypeError, '"deep.count": expected integer');
    }
    assertThrows(() => parameterHeaders(rules, { flag: "true" }), TypeError, '"flag": expected boolean');
  });

  test("limits hold for each value and for all together, exactly", () => {
    const limits = { headerBytes: 10, headersBytes: 45 };
    assertEquals(Object.keys(parameterHeaders(rules, { text: "x".repeat(10) }, limits)).length, 1);
    const one = assertThrows(() => parameterHeaders(rules, { text: "x".repeat(11) }, limits), LimitExceededError);
    assertEquals([one.limit, one.value, one.seen, one.delivery], ["limits.headerBytes", 10, 11, "not-sent"]);
    const two = { text: "x".repeat(10), deep: { count: 123456 } };
    assertEquals(Object.keys(parameterHeaders(rules, two, limits)).length, 2);
    two.deep.count = 1234567;
    const all = assertThrows(() => parameterHeaders(rules, two, limits), LimitExceededError);
    assertEquals([all.limit, all.value, all.seen], ["limits.headersBytes", 45, 46]);
  });

  test("headers say what the body says, whatever the arguments", () => {
    const read = rulesOf({
      type: "object",
      properties: {
        a: { type: "string", "x-mcp-header": "A" },
        b: {
          type: "object",
          properties: { c: { type: "integer", "x-mcp-header": "C" }, d: { type: "boolean", "x-mcp-header": "D" } },
        },
      },
    });
    const integer = fc.maxSafeInteger();
    const args = fc.record({
      a: fc.option(anyText, { nil: null }),
      b: fc.record({ c: integer, d: fc.boolean() }, { requiredKeys: [] }),
    }, { requiredKeys: [] });
    fc.assert(
      fc.property(args, (given) => {
        const sent = parameterHeaders(read, given);
        const value = (name: string): string | undefined =>
          sent[name] === undefined ? undefined : decodeHeaderValue(sent[name]);
        const body = (inner: unknown): string | undefined =>
          inner === undefined || inner === null ? undefined : String(inner);
        assertEquals(value("mcp-param-a"), body(given.a));
        assertEquals(value("mcp-param-c"), body(given.b?.c));
        assertEquals(value("mcp-param-d"), body(given.b?.d));
      }),
      { numRuns: 2_000 },
    );
  });
});
