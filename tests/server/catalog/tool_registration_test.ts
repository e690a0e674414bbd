import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import type { StandardSchema } from "../../../src/server/mod.ts";
import { call, newServer, numbers, run, textOf } from "./support.ts";

/** As TypeBox tells its objects. */
interface ObjectSchema {
  type: "object";
  properties: { readonly size: TextSchema };
  required: string[];
}

interface TextSchema {
  type: "string";
}

/** As `JSONSchema7` tells any schema. */
interface AnyDraft7 {
  $schema?: string;
  type?: string | string[];
  allOf?: AnyDraft7[];
}

describe("registering tools", () => {
  test("a tool is listed with all that is said of it, and nothing more", async () => {
    const server = newServer();
    const input = { type: "object", properties: { city: { type: "string", "x-mcp-header": "City" } } };
    server.tool("weather", {
      title: "Weather",
      description: "Tells the weather",
      input,
      output: { type: "object" },
      annotations: { readOnlyHint: true },
      icons: [{ src: "https://example.org/a.png" }],
      meta: { "example.org/a": 1 },
    }, () => "sun");
    server.tool("plain", { title: undefined }, () => "");
    assertEquals(await run(server, "tools/list"), {
      tools: [
        {
          name: "weather",
          title: "Weather",
          description: "Tells the weather",
          inputSchema: input,
          outputSchema: { type: "object" },
          annotations: { readOnlyHint: true },
          icons: [{ src: "https://example.org/a.png" }],
          _meta: { "example.org/a": 1 },
        },
        { name: "plain", inputSchema: { type: "object", additionalProperties: false } },
      ],
    });
    assertEquals(server.methods.tool("weather")?.inputSchema, input);
    assertEquals(server.methods.tool("nope"), undefined);
  });

  test("a schema may be constant for TypeScript (`as const`)", async () => {
    const schema = { type: "object", properties: { size: { enum: ["s", "l"] } }, required: ["size"] } as const;
    const server = newServer();
    server.tool("order", { input: schema, output: schema }, ({ size }) => ({ size: size ?? "s" }));
    assertEquals((await call(server, "order", { size: "l" })).structuredContent, { size: "l" });
  });

  test("a schema may be of another library's types: interfaces, which TypeScript gives no index signature", async () => {
    const order: ObjectSchema = { type: "object", properties: { size: { type: "string" } }, required: ["size"] };
    const draft: AnyDraft7 = { $schema: "http://json-schema.org/draft-07/schema#", allOf: [{ type: "object" }] };
    const server = newServer();
    server.tool("order", { input: order, output: draft }, ({ size }) => ({ size: size ?? "s" }));
    assertEquals((await call(server, "order", { size: "l" })).structuredContent, { size: "l" });
    // @ts-expect-error What has nothing of a schema is none.
    assertThrows(() => server.tool("none", { input: new Date(0) }, () => ""), TypeError);
    const size: StandardSchema = {
      "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
    };
    // @ts-expect-error The fields of a library are none, not as a shape that has a member of such a name,
    assertThrows(() => server.tool("none", { input: { type: size } }, () => ""), TypeError);
    // @ts-expect-error nor in JSON Schema.
    assertThrows(() => server.tool("none", { input: { type: "object", properties: { size } } }, () => ""), TypeError);
  });

  test("schemas are kept as they are written, and nobody can change them afterwards", () => {
    const server = newServer();
    const input = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      $defs: { address: { $anchor: "here", type: "object", properties: { street: { type: "string" } } } },
      properties: { address: { $ref: "#/$defs/address" }, kind: { anyOf: [{ const: 1 }, { const: "b" }] } },
      allOf: [{ if: { required: ["kind"] }, then: { required: ["address"] }, else: true }],
      "x-form": { type: "textarea", required: true },
      additionalProperties: false,
    };
    const before = structuredClone(input);
    server.tool("kept", { input }, () => "");
    input.type = "array";
    assertEquals(server.methods.tool("kept")?.inputSchema, before as unknown as JsonObject);
  });

  test("names: 1 to 128 characters of A-Za-z0-9_.- (S-069)", () => {
    for (const name of ["a", "Get_User.v2-x", "x".repeat(128)]) newServer().tool(name, {}, () => "");
    for (const name of ["", "a b", "ä", "a/b", "x".repeat(129), "a\n", 5, undefined]) {
      const { message } = assertThrows(() => newServer().tool(name as string, {}, () => ""), TypeError);
      assert(message.includes('"name" is') && message.includes("expected 1 to 128"), message);
    }
  });

  test("a name is there once, and can be used again when its tool is gone", async () => {
    const server = newServer();
    const remove = server.tool("one", {}, () => "first");
    assertThrows(() => server.tool("one", {}, () => ""), TypeError, '"one"');
    remove();
    server.tool("one", {}, () => "second");
    remove();
    assertEquals(textOf(await call(server, "one")), "second");
  });

  test("options that are wrong are named at once", () => {
    const wrong: [object | undefined, string][] = [
      [undefined, '"options" is missing, expected an object'],
      [{ title: 5 }, '"title" is a number: expected a string'],
      [{ description: [] }, '"description" is an array'],
      [{ annotations: { readOnlyHint: "yes" } }, '"annotations.readOnlyHint" is a string'],
      [{ icons: [{}] }, '"icons[0].src" is missing'],
      [{ meta: "a" }, '"meta" is a string'],
      [{ meta: { n: 1n } }, '"_meta.n" is a bigint'],
      [{ input: "object" }, '"input" is "object", expected a JSON Schema object or a Standard Schema'],
      [{ input: true }, '"input" is true'],
      [{ inputSchema: { type: "object" } }, '"input" is missing, expected it, not "inputSchema"'],
      [{ input: {} }, '"input.type" is missing, expected "object"'],
      [{ input: { type: "array" } }, '"input.type" is "array", expected "object"'],
      [{ input: { type: "object", properties: { a: { type: "strng" } } } }, '"input/properties/a/type" is "strng"'],
      [{ input: { type: "object", required: "a" } }, '"input/required" is "a", expected a list of names'],
      [{ input: { type: "object", properties: { a: 5 } } }, '"input/properties" is'],
      [{ input: { type: "object", $ref: "#/$defs/a" } }, "its input is no usable schema"],
      [{ input: { type: "object", $ref: "https://example.org/a" } }, "its input is no usable schema"],
      [{ input: { type: "object", $schema: "https://example.org/b" } }, "its input is no usable schema"],
      [{ input: { type: "object", properties: { a: { pattern: "(a" } } } }, '"input/properties/a/pattern" is "(a"'],
      [
        { input: { type: "object", patternProperties: { "(a)\\1": true } } },
        "a regular expression that the validator can check",
      ],
      [{ output: { type: "objekt" } }, '"output/type" is "objekt"'],
      [{ output: 5 }, '"output" is 5'],
      [{ task: "maybe" }, '"task" is "maybe", expected "forbidden", "optional" or "required"'],
      [{ task: "optional", taskBegins: "late" }, '"taskBegins" is "late", expected "at-once" or "when-told"'],
    ];
    for (const [options, part] of wrong) {
      const { message } = assertThrows(() => newServer().tool("tool", options as object, () => ""), TypeError);
      assert(message.startsWith('Cannot set up the tool "tool": ') && message.includes(part), message);
    }
    const { message } = assertThrows(() => newServer().tool("tool", {}, "handler" as never), TypeError);
    assertEquals(message, 'Cannot set up the tool "tool": "handler" is "handler", expected a function');
  });

  test("a listed tool can be spread beside its schema", () => {
    const listed = { name: "a", description: "A", inputSchema: { type: "object" } };
    const server = newServer();
    server.tool("a", { ...listed, input: listed.inputSchema }, () => "");
    assertEquals(server.methods.tool("a")?.inputSchema, { type: "object" });
    const without = { ...listed, inputSchema: undefined };
    server.tool("none", without, () => "");
    assertEquals(server.methods.tool("none")?.inputSchema, { type: "object", additionalProperties: false });
  });

  test("a schema that holds itself is refused", () => {
    const input: JsonObject = { type: "object" };
    input.properties = { self: input };
    assertThrows(() => newServer().tool("tool", { input }, () => ""), TypeError, "holds itself");
  });

  test("x-mcp-header annotations that break the rules are refused with the reason (S-036)", () => {
    const wrong: [JsonObject, string][] = [
      [{ a: { type: "string", "x-mcp-header": "bad name" } }, "is no header name"],
      [{ a: { type: "object", "x-mcp-header": "A" } }, "is on no string, integer or boolean"],
      [{ a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }, "stands twice"],
    ];
    for (const [properties, reason] of wrong) {
      const input = { type: "object", properties };
      assertThrows(() => newServer().tool("tool", { input }, () => ""), TypeError, reason);
    }
  });

  test("a Standard Schema is listed by its own JSON Schema, or as any object", async () => {
    const server = newServer();
    const told = numbers(["a"], { jsonSchema: true });
    server.tool("told", { input: told, output: told }, () => ({ a: 1 }));
    server.tool("untold", { input: numbers(["a"]), output: numbers(["a"]) }, () => ({ a: 1 }));
    const listed = { $comment: "draft-2020-12", properties: { a: { type: "number" } } };
    assertEquals(await run(server, "tools/list"), {
      tools: [
        { name: "told", inputSchema: { type: "object", ...listed }, outputSchema: listed },
        { name: "untold", inputSchema: { type: "object" } },
      ],
    });
  });

  test("a Standard Schema whose library cannot tell, or that is about no object, is refused", () => {
    const made = (input: () => Record<string, unknown>) => ({
      "~standard": { ...numbers(["a"])["~standard"], jsonSchema: { input, output: input } },
    });
    const cannot = made(() => {
      throw new Error("dates cannot be said");
    });
    assertThrows(() => newServer().tool("tool", { input: cannot }, () => ""), TypeError, "dates cannot be said");
    const text = made(() => ({ type: "string" }));
    assertThrows(() => newServer().tool("tool", { input: text }, () => ""), TypeError, '"input.type" is "string"');
  });

  test("functions with a schema, as some libraries have them, are schemas too", async () => {
    const server = newServer();
    const input = Object.assign(() => {}, numbers(["a"]));
    server.tool("callable", { input }, ({ a }) => `${a}`);
    assertEquals(textOf(await call(server, "callable", { a: 1 })), "1");
  });

  test("an own validator is asked for all JSON Schemas", async () => {
    const seen: unknown[] = [];
    const server = newServer({
      validator: (schema) => (value) => {
        seen.push(schema, value);
        return { valid: false, issues: [{ path: "/q", keyword: "own", message: "must please me" }] };
      },
    });
    server.tool("tool", { input: { type: "object", title: "mine" } }, () => "ran");
    assert(textOf(await call(server, "tool", { q: 1 })).includes('"/q" must please me'));
    assertEquals(seen, [{ type: "object", title: "mine" }, { q: 1 }]);
  });
});
