import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { checkFloors } from "../../tools/check_floors.ts";

/** Writes a tree of files, checks it, and answers each problem as `file:line rule message`. */
function check(files: Record<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), "causeway-floors-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return checkFloors(folder).problems.map(({ file, line, rule, message }) => `${file}:${line} ${rule} ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Checks a tree that must break one rule once. */
function checkOne(files: Record<string, string>): string {
  const problems = check(files);
  assertEquals(problems.length, 1, `wanted one problem, got: ${problems.join("; ")}`);
  return problems[0] ?? "";
}

const empty = "export {};\n";

describe("the floor check: imports", () => {
  test("a clean tree has no problem", () => {
    assertEquals(
      check({
        "mod.ts": `export { connect } from "./src/client/connect.ts";\n`,
        "src/ports.ts": `export type Now = () => number;\n`,
        "src/protocol/types.ts": `import type { Now } from "../ports.ts";\nexport type Stamp = ReturnType<Now>;\n`,
        "src/client/connect.ts":
          `import type { Stamp } from "../protocol/types.ts";\nexport const connect = (s: Stamp) => s;\n`,
        "src/runtime/node.ts":
          `import process from "node:process";\nimport "../protocol/types.ts";\nexport { process };\n`,
        "src/auth/oauth.ts": `import * as oauth from "oauth4webapi";\nexport { oauth };\n`,
        "src/runner/app.ts": `import { cors } from "hono/cors";\nexport { cors };\n`,
        "src/cli/program/build.ts": `import { Command } from "commander";\nexport { Command };\n`,
        "src/cli/main.ts": `import "../runtime/node.ts";\nlet count = 0;\ncount++;\n`,
        "workers/runner.ts":
          `import { env } from "cloudflare:workers";\nimport "../src/runner/app.ts";\nexport { env };\n`,
        "tests/client/connect_test.ts": `import "node:test";\nimport "../../mod.ts";\nimport "fast-check";\n`,
      }),
      [],
    );
  });

  test("an import of a higher floor is found, a type import too", () => {
    const found = checkOne({
      "src/protocol/a.ts": `// above\nimport type { B } from "../client/b.ts";\nexport type A = B;\n`,
      "src/client/b.ts": `export type B = 1;\n`,
    });
    assertEquals(found, `src/protocol/a.ts:2 floors src/protocol may not import src/client ("../client/b.ts")`);
  });

  test("an import type, a dynamic import and an export-from count as imports", () => {
    const target = { "src/hub/hub.ts": empty };
    for (
      const text of [
        `export type A = import("../hub/hub.ts").Hub;\n`,
        `export const a = () => import("../hub/hub.ts");\n`,
        `export * from "../hub/hub.ts";\n`,
      ]
    ) assertStringIncludes(checkOne({ ...target, "src/client/a.ts": text }), "src/client may not import src/hub");
  });

  test("only the command's loader imports what is known when it runs alone", () => {
    const text = `export const a = (name: string) => import(name);\n`;
    const named = `export const a = () => import("left-pad");\n`;
    assertEquals(check({ "src/cli/commands/agents/load.ts": text }), []);
    assertStringIncludes(checkOne({ "src/cli/commands/agents/load.ts": named }), `may not import "left-pad"`);
    assertStringIncludes(checkOne({ "src/cli/commands/agents/other.ts": text }), `may not import "name"`);
  });

  test("imports in comments and strings are none", () => {
    const text = '// import "../hub/hub.ts";\nexport const a = `import "../hub/hub.ts"; ${1}`;\n/* from "npm" */\n';
    assertEquals(check({ "src/client/a.ts": text, "src/hub/hub.ts": empty }), []);
  });

  test("neighbours on one floor do not meet", () => {
    const found = checkOne({ "src/auth/a.ts": `import "../transport/b.ts";\n`, "src/transport/b.ts": empty });
    assertStringIncludes(found, "src/auth may not import src/transport");
  });

  test("the runtime adapters are imported by floor 8 only, and import floors 0 and 1 only", () => {
    const runtime = { "src/runtime/node.ts": empty };
    assertStringIncludes(checkOne({ ...runtime, "src/hub/a.ts": `import "../runtime/node.ts";\n` }), "src/runtime");
    const low = checkOne({ "src/runtime/a.ts": `import "../egress/b.ts";\n`, "src/egress/b.ts": empty });
    assertStringIncludes(low, "src/runtime may not import src/egress");
  });

  test("what ships reaches neither tests nor tools, and unknown folders are refused", () => {
    const shipped = checkOne({ "src/cli/a.ts": `import "../../tools/b.ts";\n`, "tools/b.ts": empty });
    assertStringIncludes(shipped, "src/cli may not import tools");
    assertStringIncludes(checkOne({ "src/attic/a.ts": `import "./b.ts";\n` }), "src/attic");
    assertStringIncludes(
      checkOne({ "mod.ts": `export * from "./src/agent/a.ts";\n`, "src/agent/a.ts": empty }),
      "mod.ts",
    );
  });

  test("circles are found, of types too", () => {
    const found = checkOne({
      "src/hub/a.ts": `import type { B } from "./b.ts";\nexport type A = B;\n`,
      "src/hub/b.ts": `import type { C } from "./c.ts";\nexport type B = C;\n`,
      "src/hub/c.ts": `import type { A } from "./a.ts";\nexport type C = A | 1;\n`,
    });
    assertMatch(
      found,
      /cycles a circle of imports: src\/hub\/a\.ts → src\/hub\/b\.ts → src\/hub\/c\.ts → src\/hub\/a\.ts/,
    );
  });

  test("a dependency has one door, and other packages have none", () => {
    assertStringIncludes(checkOne({ "src/hub/a.ts": `import "hono";\n` }), `"hono" is imported in src/runner only`);
    assertStringIncludes(checkOne({ "src/hub/a.ts": `import "zod";\n` }), `may not import "zod"`);
    assertStringIncludes(checkOne({ "workers/a.ts": `import "hono";\n` }), "src/runner only");
    const telemetry = `import "@opentelemetry/api";\n`;
    assertStringIncludes(
      checkOne({ "src/client/a.ts": telemetry }),
      `"@opentelemetry/api" is imported in src/otel only`,
    );
    assertEquals(check({ "src/otel/a.ts": telemetry }), []);
  });

  test("the clean entries reach no package and no runtime, over any number of steps", () => {
    const found = check({
      "src/client/mod.ts": `export * from "./a.ts";\n`,
      "src/client/a.ts": `import "../auth/b.ts";\n`,
      "src/auth/b.ts": `import "oauth4webapi";\n`,
    });
    assertEquals(found, [
      `src/auth/b.ts:1 clean core src/client/mod.ts reaches "oauth4webapi": ` +
      "src/client/mod.ts → src/client/a.ts → src/auth/b.ts",
    ]);
  });
});

describe("the floor check: runtimes and made code", () => {
  test("each way to name a runtime is found", () => {
    for (
      const text of [
        "export const a = () => Deno.args;",
        "export const a = () => typeof Bun;",
        "export type A = Buffer;",
        "export const a = () => globalThis.process;",
        `export const a = () => globalThis["Deno"];`,
        `export const a = () => "Bun" in globalThis;`,
        `export const a = () => Reflect.get(globalThis, "process");`,
        "export const a = () => ({ process });",
      ]
    ) assertStringIncludes(checkOne({ "src/client/a.ts": `${text}\n` }), "runtime", text);
    assertStringIncludes(checkOne({ "src/client/a.ts": `import "node:fs";\n` }), `may not import "node:fs"`);
  });

  test("what the main door reaches names no runtime, not even where others may", () => {
    const named = "export const a = () => process.env;\n";
    assertEquals(check({ "src/entry/node.ts": named }), []);
    const found = checkOne({ "mod.ts": `export * from "./src/entry/web.ts";\n`, "src/entry/web.ts": named });
    assertStringIncludes(found, `src/entry/web.ts:1 runtime "process"`);
  });

  test("a property or a word of the same name is not a runtime", () => {
    const text = `// Deno and Bun\nexport interface A { process: string }\n` +
      `export const a = (b: A) => [b.process, "Deno", { process: 1 }];\n`;
    assertEquals(check({ "src/client/a.ts": text }), []);
  });

  test("eval and Function are found everywhere in src; the type Function is not", () => {
    for (const text of [`eval("1")`, `new Function("1")`, `Function("1")`, `globalThis.eval("1")`, `(0, eval)("1")`]) {
      assertStringIncludes(checkOne({ "src/cli/a.ts": `export const a = () => ${text};\n` }), "makes code", text);
    }
    assertEquals(check({ "src/cli/a.ts": "export const a = (b: unknown) => b instanceof Function;\n" }), []);
  });

  test("URL.canParse is found everywhere in src", () => {
    const text = "export const a = (b: string) => URL.canParse(b);\n";
    for (const path of ["src/cli/a.ts", "src/runner/dashboard/page/a.ts"]) {
      assertStringIncludes(checkOne({ [path]: text }), `${path}:1 url "canParse" is wrong in Node 20`);
    }
  });
});

describe("the floor check: state at module level", () => {
  test("state and work are found", () => {
    for (
      const text of [
        "let a = 1;",
        "var a = 1;",
        "export const a = new Map<string, string>();",
        "export const a = { b: [new WeakMap()] };",
        "export const a = new AbortController();",
        "export const a = new Promise(() => {});",
        "export class A { static readonly b = new Set<string>(); }",
        "export class A { static b = 1; }",
        "export class A { static { setTimeout(() => {}, 1); } }",
        "export const a = (() => new Map())();",
        "setTimeout(() => {}, 1);",
        "await 1;",
        "export const a: string[] = [];",
        "export const a: Record<string, string> = {};",
        "if (1 > 0) { fetch('http://localhost'); }",
      ]
    ) assertStringIncludes(checkOne({ "src/hub/a.ts": `${text}\n` }), "at module level", text);
  });

  test("tables, functions and instances may have what they need", () => {
    const text = [
      `const names: ReadonlySet<string> = new Set(["a"]);`,
      `const table: ReadonlyMap<string, number> = new Map([["a", 1]]);`,
      `export const make = () => new Map();`,
      `export class A { #b = new Map(); static c() { let d = 1; d++; return [d, names, table]; } }`,
      `export async function wait() { await new Promise((end) => setTimeout(end, 1)); }`,
    ];
    assertEquals(check({ "src/hub/a.ts": `${text.join("\n")}\n` }), []);
    assertEquals(check({ "src/cli/a.ts": "let a = 1;\na++;\n" }), []);
  });
});

describe("the floor check: the shape of files", () => {
  test("long files, long functions and full folders are found", () => {
    assertStringIncludes(checkOne({ "src/hub/a.ts": "// line\n".repeat(401) }), "401 lines, at most 400");
    assertEquals(check({ "src/hub/a.ts": "// line\n".repeat(400), "src/hub/types.ts": "// line\n".repeat(700) }), []);
    const body = "  a();\n".repeat(59);
    assertStringIncludes(checkOne({ "tools/a.ts": `function a() {\n${body}}\na();\n` }), "a has 61 lines, at most 60");
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, index) => [`src/hub/a${index}.ts`, empty]));
    assertStringIncludes(checkOne(many), "15 files, at most 14");
  });

  test("wrong names are found", () => {
    assertStringIncludes(checkOne({ "src/hub/someThing.ts": empty }), "snake_case");
    assertStringIncludes(checkOne({ "src/hub/some-thing.ts": empty }), "snake_case");
    assertStringIncludes(checkOne({ "src/hub/a_test.ts": empty }), "below tests/");
    assertStringIncludes(checkOne({ "tests/hub/a.ts": `import "node:test";\n` }), "_test.ts");
  });

  test("a private method that SWC would make a syntax error of is found", () => {
    assertStringIncludes(checkOne({ "src/hub/a.ts": `${empty}export class A {\n  #await(): void {}\n}\n` }), "#await");
    assertEquals(check({ "src/hub/a.ts": `${empty}export class A {\n  #delete(): void {}\n}\n` }), []);
  });

  test("a skipped suite is found, since Bun would not count it; a skipped test is fine", () => {
    const suite = `describe("a", { skip: "why" }, () => {});\n`;
    assertStringIncludes(checkOne({ "tests/hub/a_test.ts": suite }), "skip the tests, not the suite");
    assertEquals(check({ "tests/hub/a_test.ts": `describe("a", () => test("b", { skip: "why" }, () => {}));\n` }), []);
  });
});
