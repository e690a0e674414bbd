import { assert, assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { fieldsOf, isSecret } from "../../../src/runner/dashboard/page/form/fields.ts";
import type { Field } from "../../../src/runner/dashboard/page/form/fields.ts";
import { isSame, readField, writeField } from "../../../src/runner/dashboard/page/form/values.ts";

function fieldOf(property: JsonObject, more: JsonObject = {}): Field {
  const [field] = fieldsOf({ type: "object", properties: { one: property }, ...more }) ?? [];
  if (!field) throw new Error("there is no field");
  return field;
}

describe("the fields of a schema", () => {
  it("are of the kind that fits", () => {
    const kinds: [JsonObject, Field["kind"]][] = [
      [{ type: "string" }, "text"],
      [{ type: "number" }, "number"],
      [{ type: "integer" }, "number"],
      [{ type: "boolean" }, "switch"],
      [{ type: "string", enum: ["a", "b"] }, "choice"],
      [{ enum: [1, null, { deep: true }] }, "choice"],
      [{ const: 3 }, "choice"],
      [{ oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "choice"],
      [{ oneOf: [{ type: "string" }, { type: "number" }] }, "json"],
      [{ type: "array", items: { enum: ["a", "b"] } }, "choices"],
      [{ type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }, "choices"],
      [{ type: "array", items: { type: "string" } }, "list"],
      [{ type: "array", items: { type: "object", properties: { x: { type: "string" } } } }, "list"],
      [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "number" }] } }, "json"],
      [{ type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } }, "json"],
      [{ type: "array" }, "json"],
      [{ type: "object", properties: { x: { type: "string" } } }, "group"],
      [{ type: "object" }, "json"],
      [{ type: ["string", "null"] }, "text"],
      [{ type: ["string", "number"] }, "json"],
      [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "number"],
      [{}, "json"],
      [{ $ref: "#/$defs/missing" }, "json"],
      [{ $ref: "https://elsewhere.example/schema" }, "json"],
    ];
    for (const [schema, kind] of kinds) assertEquals(fieldOf(schema).kind, kind, JSON.stringify(schema));
  });

  it("follow references within the schema, and end where those go round", () => {
    const found = fieldOf({ $ref: "#/$defs/name", title: "Own" }, {
      $defs: { name: { type: "string", title: "Theirs" } },
    });
    assertEquals([found.kind, found.title], ["text", "Own"]);
    const round = fieldsOf({
      type: "object",
      properties: { node: { $ref: "#/$defs/node" } },
      $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, value: { type: "string" } } } },
    });
    let [field] = round ?? [];
    let depth = 0;
    for (; field?.kind === "group"; depth++) field = field.fields.find(({ name }) => name === "next");
    assertEquals([field?.kind, depth], ["json", 4]);
    assertEquals(
      fieldOf({ $ref: "#/$defs/a" }, { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }).kind,
      "json",
    );
    assertEquals(fieldOf({ $ref: "#/__proto__/x" }).kind, "json");
  });

  it("put what is needed first, and say what is expected", () => {
    const fields = fieldsOf({
      type: "object",
      required: ["b"],
      properties: {
        a: { type: "integer", minimum: 1, maximum: 9, default: 2 },
        b: { type: "string", minLength: 2, maxLength: 5, format: "email", description: "Yours" },
      },
    }) ?? [];
    assertEquals(fields.map(({ name, isRequired, hint }) => [name, isRequired, hint]), [
      ["b", true, "at most 5 characters, email"],
      ["a", false, "1 to 9"],
    ]);
    assertEquals([fields[1]?.start, fields[0]?.description], [2, "Yours"]);
  });

  it("are none where JSON alone fits", () => {
    assertEquals(fieldsOf({ oneOf: [{ type: "object" }] }), undefined);
    assertEquals(fieldsOf("text"), undefined);
    assertEquals(fieldsOf(undefined), undefined);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`field${at}`, { type: "string" }]));
    assertEquals(fieldsOf({ type: "object", properties: many }), undefined);
    assertEquals(fieldsOf({ type: "object" }), []);
    assertEquals(fieldsOf({ type: "object", properties: { odd: true, worse: 3, no: null } as never })?.length, 3);
  });
});

describe("what is written in a field", () => {
  const text = fieldOf({ type: "string" });
  const number = fieldOf({ type: "number" });
  const whole = fieldOf({ type: "integer" });
  const json = fieldOf({});

  it("is read as its kind says", () => {
    assertEquals(readField(text, " a "), { value: " a " });
    assertEquals(readField(text, ""), {});
    assertEquals(readField({ ...text, isRequired: true }, "").problem, "This is needed.");
    assertEquals(readField({ ...text, isRequired: true, isNullable: true }, ""), { value: null });
    assertEquals(readField(number, " 1.5 "), { value: 1.5 });
    assertEquals(readField(number, "1,5"), { value: 1.5 });
    assertEquals(readField(number, "0,125"), { value: 0.125 });
    for (const written of ["1,500", "-12,000", "1,000,000"]) {
      assertEquals(readField(number, written), { problem: "Write it without a comma: 1500, or 1.5." });
      assertEquals(readField(whole, written), { problem: "Write it without a comma: 1500, or 1.5." });
    }
    assertEquals(readField(number, "x").problem, "Expected a number.");
    assertEquals(readField(number, "Infinity").problem, "Expected a number.");
    assertEquals(readField(whole, "1.5").problem, "Expected a whole number.");
    assertEquals(readField(whole, "9007199254740993").problem, "This number is too large to be exact.");
    assertEquals(readField(json, '{"a": [1, null]}'), { value: { a: [1, null] } });
    assert(readField(json, "{a}").problem?.startsWith("Expected JSON"));
  });

  it("comes back as it went", () => {
    for (const value of ["", "text", "<b>", "\u202e"]) assertEquals(writeField(text, value), value);
    for (const value of [0, -1.5, 1e21]) {
      assertEquals(
        readField(number, writeField(number, value) ?? ""),
        value === 1e21 ? { problem: "This number is too large to be exact." } : { value },
      );
    }
    for (const value of [null, true, [1], { a: { b: "c" } }]) {
      assertEquals(readField(json, writeField(json, value) ?? ""), { value });
    }
    assertEquals(writeField(text, 3), undefined);
    assertEquals(writeField(number, "3"), undefined);
  });

  it("is compared as JSON is", () => {
    assert(isSame({ a: [1, { b: null }] }, { a: [1, { b: null }] }));
    assert(!isSame({ a: 1 }, { a: 1, b: 2 }));
    assert(!isSame([1], { 0: 1 }));
    assert(!isSame("1", 1));
  });
});

describe("secrets in forms of servers", () => {
  it("are known by their names, titles and formats", () => {
    const secrets: [string, JsonObject][] = [
      ["password", {}],
      ["userPassword", {}],
      ["pass_word", {}],
      ["apiKey", {}],
      ["API-KEY", {}],
      ["access_token", {}],
      ["token", {}],
      ["client_secret", {}],
      ["x", { title: "Your Password" }],
      ["x", { format: "password" }],
      ["x", { writeOnly: true }],
      ["x", { description: "Enter your password to go on" }],
      ["pin", {}],
      ["otp", {}],
      ["creditCard", {}],
      ["card_number", {}],
      ["cvv", {}],
      ["pass\u200bword", {}],
      ["ｐａｓｓｗｏｒｄ", {}],
      ["pässword", {}],
      ["\u0440\u0430ssw\u043erd", {}],
      ["x", { title: "Your \u0420\u0410SSWORD" }],
      ["\u0430\u0440\u0456_\u043a\u0435\u0443", {}],
    ];
    for (const [name, schema] of secrets) {
      assert(isSecret(name, { type: "string", ...schema }), `${name} ${JSON.stringify(schema)}`);
    }
    for (
      const name of [
        "name",
        "project",
        "passenger",
        "spinning",
        "secretary",
        "compass",
        "email",
        "tokens_per_minute",
        "keyboard",
        "\u0438\u043c\u044f",
        "\u043f\u0430\u0441\u043f\u043e\u0440\u0442",
      ]
    ) {
      assert(!isSecret(name, { type: "string" }), name);
    }
  });
});
