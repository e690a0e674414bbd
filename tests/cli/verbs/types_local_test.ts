import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { typesText } from "../../../src/cli/commands/inspect/types.ts";
import { plain } from "../../../src/cli/text/plain.ts";
import { comment, propertyName, typeOf } from "../../../src/cli/text/typescript.ts";
import { assertFailure, causeway, peer, quote } from "../support.ts";

const root = process.cwd();
const everything = [
  process.execPath,
  ..."Deno" in globalThis ? ["run", "-A", "--quiet"] : [],
  `${root}/node_modules/@modelcontextprotocol/server-everything/dist/index.js`,
].map(quote).join(" ");

describe("JSON Schema as a TypeScript type", () => {
  const type = (schema: unknown): string => typeOf(schema, { root: schema });

  test("each kind of schema", () => {
    const cases: [unknown, string][] = [
      [{ type: "integer" }, "number"],
      [{ type: ["string", "null"] }, "string | null"],
      [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
      [{ const: { a: [true] } }, "{ a: [true] }"],
      [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
      [{ type: "array" }, "unknown[]"],
      [{ prefixItems: [{ type: "string" }], items: { type: "number" } }, "[string, ...number[]]"],
      [{ type: "object" }, "Record<string, unknown>"],
      [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
      [{ type: "object", additionalProperties: false }, "Record<string, never>"],
      [{ type: "object", patternProperties: { "^x-": { type: "string" } } }, "Record<string, unknown>"],
      [
        {
          type: "object",
          patternProperties: { "^x-": { type: "string" }, "^y-": { type: "number" } },
          additionalProperties: false,
        },
        "Record<string, string | number>",
      ],
      [{ properties: { a: {} }, additionalProperties: { type: "number" } }, "{ a?: unknown; [key: string]: unknown }"],
      [{ properties: { a: {} }, additionalProperties: false }, "{ a?: unknown }"],
      [{ properties: { "a-b": true, c: { type: "string" } }, required: ["c"] }, '{ "a-b"?: unknown; c: string }'],
      [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
      [{ oneOf: [{ type: "string" }, {}] }, "unknown"],
      [{ allOf: [{ properties: { a: {} } }, { oneOf: [{ const: 1 }, { const: 2 }] }] }, "{ a?: unknown } & (1 | 2)"],
      [{ type: "string", nullable: true }, "string | null"],
      [{ $defs: { n: { type: "number" } }, type: "array", items: { $ref: "#/$defs/n" } }, "number[]"],
      [{ $defs: { t: { type: "array", items: { $ref: "#/$defs/t" } } }, $ref: "#/$defs/t" }, "unknown[]"],
      [{ $ref: "https://example.com/x" }, "unknown"],
      [{ $defs: { n: { $anchor: "n", type: "number" } }, properties: { a: { $ref: "#n" } } }, "{ a?: unknown }"],
      [false, "never"],
      ["nonsense", "unknown"],
    ];
    for (const [schema, expected] of cases) assertEquals(type(schema), expected);
  });

  test("a few references that stand for millions of parts are cut off", () => {
    const names = Array.from({ length: 30 }, (_, at) => `p${at}`);
    const level = (part: object) => ({ properties: Object.fromEntries(names.map((name) => [name, part])) });
    const levels = Array.from(
      { length: 5 },
      (_, at) => [`d${at}`, level(at < 4 ? { $ref: `#/$defs/d${at + 1}` } : {})],
    );
    const schema = { $defs: Object.fromEntries(levels), $ref: "#/$defs/d0" };
    for (const indent of [undefined, "  "]) {
      const text = typeOf(schema, { root: schema, indent });
      assert(text.length < 1_000_000, `${text.length}`);
      assertMatch(text, /^\{\s+p0\?: \{\s+p0\?: \{\s+p0\?: \{/);
      assertMatch(text, /p29\?: unknown;?\s+\}$/);
    }
  });

  test("what may be one of several stays so in a list, and beside other parts", () => {
    const one = (name: string) => ({ properties: { [name]: { const: 1 } }, required: [name] });
    const list = (...types: string[]) => ({ type: "array", items: { type: types } });
    const cases: [unknown, string][] = [
      [{ type: "array", items: { anyOf: [one("a"), one("b")] } }, "({ a: 1 } | { b: 1 })[]"],
      [{ allOf: [{ oneOf: [one("a"), one("b")] }, one("c")] }, "({ a: 1 } | { b: 1 }) & { c: 1 }"],
      [{ type: "array", items: { allOf: [one("a"), one("b")] } }, "({ a: 1 } & { b: 1 })[]"],
      [
        { type: "array", items: { anyOf: [list("string", "null"), list("number", "null")] } },
        "((string | null)[] | (number | null)[])[]",
      ],
      [{ type: "array", items: { enum: ["(a", "b)"] } }, '("(a" | "b)")[]'],
      [{ type: "array", items: one('a | "b') }, '{ "a | \\"b": 1 }[]'],
    ];
    for (const [schema, expected] of cases) assertEquals(type(schema), expected);
    const about = { ...one("a"), properties: { a: { const: 1, description: 'a } | "b' } } };
    const text = typeOf({ type: "array", items: about }, { root: {}, indent: "", comments: true });
    assertEquals(text, '{\n  /** a } | "b */\n  a: 1;\n}[]');
  });

  test("what is required is looked up, and not searched for, since there may be very many", () => {
    const required = Object.assign(["b", "a"], { includes: () => assert(false, "it was searched for") });
    const properties = { a: { type: "string" }, b: { type: "number" }, c: {} };
    assertEquals(type({ type: "object", properties, required }), "{ a: string; b: number; c?: unknown }");
  });

  test("names and comments cannot leave their place", () => {
    assertEquals([propertyName("a_1"), propertyName("a b"), propertyName('"\u202e')], ["a_1", '"a b"', '"\\"\\u202e"']);
    assertEquals(comment("one */ two", ""), "/** one *\\/ two */\n");
    assertEquals(comment("one\ntwo\u202e", "  "), "  /**\n   * one\n   * two\n   */\n");
    assertEquals(comment(" ", ""), "");
  });

  test("no description becomes code where what steers a terminal is taken out of the text", () => {
    // All that is no letter, digit or other sign of a text: what of it a terminal is spared is for `plain` to say.
    const unseen = Array.from({ length: 0x10000 }, (_, at) => String.fromCharCode(at))
      .filter((one) => /[\p{C}\p{Z}]/u.test(one) && !/[\p{Cn}\p{Co}\p{Cs}]/u.test(one));
    assert(unseen.includes("\u200e") && unseen.includes("\u061c") && unseen.includes("\x1b"));
    for (const between of [...unseen, "\x1b[0m", "\x1b]0;title\x07"]) {
      const description = `Adds *${between}/ } import("node:fs"); interface More { /*`;
      const inputSchema = { type: "object", properties: { a: { type: "string", description } } } as const;
      const text = plain(typesText([{ name: "add", description, inputSchema }], { server: "s", from: "x" }));
      assertEquals(text.replace(/\/\*[\s\S]*?\*\//g, "").includes("import("), false, JSON.stringify(between));
    }
  });
});

describe("causeway types", () => {
  // The compiler takes its time on a busy machine.
  const slowly = { timeout: 90_000 };
  test("what it writes for server-everything compiles under strict, a wrong argument does not", slowly, async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-types-"));
    try {
      const file = join(folder, "tools.ts");
      const written = await causeway(["types", everything, "--output", file, "--from", `${root}/src/client/mod.ts`]);
      assertEquals([written.code, written.out], [0, ""]);
      assertMatch(written.err, /^causeway: wrote \d+ tools to .*tools\.ts\n$/);
      assertEquals(/"get-sum": \{[^}]*a: number;[^}]*b: number;/.test(readFileSync(file, "utf8")), true);
      // The compiler is the same beside each runtime: once is enough.
      if (!("Bun" in globalThis)) return;
      // `client/mod.ts` has all but the type of results, which is the protocol's.
      writeFileSync(
        file,
        readFileSync(file, "utf8").replace(
          /import type \{ CallToolResult, /,
          `import type { CallToolResult } from "${root}/src/protocol/mod.ts";\nimport type { `,
        ),
      );
      writeFileSync(
        join(folder, "use.ts"),
        `import { typed, type TypedTools } from "./tools.ts";
import type { Client } from "${root}/src/client/mod.ts";
declare const client: Client;
const tools: TypedTools = typed(client);
const { structuredContent } = await tools.call("get-structured-content", { location: "Chicago" });
const degrees: number | undefined = structuredContent?.temperature;
await tools.call("get-sum", { a: 1, b: 2 }, { timeout: 5 });
await tools.call("get-tiny-image");
await tools.call("trigger-long-running-operation", { steps: 2 });
console.log(degrees);
// @ts-expect-error A text is no number.
await tools.call("get-sum", { a: 1, b: "2" });
// @ts-expect-error One is missing.
await tools.call("get-sum", { a: 1 });
// @ts-expect-error One is too many.
await tools.call("get-sum", { a: 1, b: 2, c: 3 });
// @ts-expect-error There is no such tool.
await tools.call("get-sums", {});
// @ts-expect-error There is no such city.
await tools.call("get-structured-content", { location: "Paris" });
// @ts-expect-error Its arguments are needed.
await tools.call("get-sum");
`,
      );
      const flags = [
        "--noEmit",
        "--strict",
        "--exactOptionalPropertyTypes",
        "--noUncheckedIndexedAccess",
        "--skipLibCheck",
      ];
      const more = ["--allowImportingTsExtensions", "--module", "esnext", "--moduleResolution", "bundler", "--target"];
      const checked = spawnSync(process.execPath, [
        `${root}/node_modules/typescript/bin/tsc`,
        ...flags,
        ...more,
        "esnext",
        join(folder, "use.ts"),
      ]);
      assertEquals([checked.status, String(checked.stdout)], [0, ""]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("signatures of tools; a file that cannot be written is one line", async () => {
    const { code, out } = await causeway(["tools", peer("modern"), "--signatures"]);
    assertEquals(code, 0);
    assertStringIncludes(out, "/** Echo: Gives back the text */\necho(text: string);\n");
    assertStringIncludes(out, "\nadd(a: number, b: number): { sum: number };\n");
    assertFailure(
      await causeway(["types", peer("modern"), "--output", "/no/such/x.ts"]),
      2,
      /Cannot write "\/no\/such/,
    );
  });
});
