import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { checkArguments } from "../../src/cli/arguments/check.ts";
import { readPieces } from "../../src/cli/arguments/pieces.ts";
import { buildArguments } from "../../src/cli/arguments/values.ts";
import { readCommandLine } from "./session/read_line.ts";
import { describeFailure, UsageError } from "../../src/cli/failure.ts";
import { resolveTarget } from "../../src/cli/target/target.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import type { Tool } from "../../src/protocol/mod.ts";

const never = new AbortController().signal;

/** Runs what has to fail as wrong use, and looks at its line. */
async function refused(run: () => unknown, says: RegExp): Promise<void> {
  let failure: unknown;
  try {
    await run();
  } catch (error) {
    failure = error;
  }
  const { exitCode, line } = describeFailure(failure);
  assertMatch(line, says);
  assertEquals(exitCode, 2, line);
}

describe("the words of the command", () => {
  test("options in any place", () => {
    const words = ["--json", "call", "x", "t", "--timeout", "1.5", "a=1", "--header", "A: b:c", "--header", "X-Y:1"];
    assertEquals(readCommandLine(words), {
      command: "call",
      words: ["x", "t", "a=1"],
      json: true,
      timeout: 1500,
      headers: { A: "b:c", "X-Y": "1" },
      config: undefined,
      args: undefined,
    });
    const times = ["30", "2m", "250ms"].map((time) => readCommandLine(["tools", "x", "--timeout", time]).timeout);
    assertEquals(times, [30_000, 120_000, 250]);
  });

  test("what is wrong is named, with what to do", async () => {
    const cases: [string[], RegExp][] = [
      [["tols", "x"], /^Unknown command "tols" \(did you mean "tools"\?\): use/],
      [["list-tools", "x"], /did you mean "tools"\?/],
      [["callTool", "x"], /did you mean "call"\?/],
      [["tools", "x", "--timeout"], /"--timeout" needs a value/],
      [["tools", "x", "--config", "--json"], /"--config" needs a value/],
      [["tools", "x", "--timeout", "soon"], /^Cannot read --timeout "soon": write seconds/],
      [["tools", "x", "--timeout", "0"], /^Cannot read --timeout "0"/],
      [["tools", "x", "--json=yes"], /"--json" takes no value/],
      [["tools", "x", "-j"], /^Unknown option "-j"/],
      [["tools", "x", "--header", "my secret"], /^Cannot read a --header: write it like/],
      [["tools", "x", "--header", "A: b\nC: d"], /^Cannot read a --header/],
    ];
    for (const [words, says] of cases) await refused(() => readCommandLine(words), says);
  });
});

describe("targets", () => {
  const resolve = (text: string, config?: string, headers = {}) => resolveTarget(text, { config, headers });

  test("that are none are refused, and no password is shown", async () => {
    await refused(
      () => resolve("http://me:secret@localhost/mcp"),
      /^Cannot use "http:\/\/localhost\/mcp" with a user name/,
    );
    await refused(() => resolve("gopher://me:secret@h/?token=x"), /^Unknown scheme "gopher:" in "gopher:\/\/h\/\?…"/);
    await refused(() => resolve("localhost:3000/mcp"), /write "http:\/\/localhost:3000\/mcp"/);
    await refused(() => resolve("  "), /^The target is empty: give a URL/);
    await refused(() => resolve("A=1"), /^The target is empty/);
    await refused(() => resolve("sh -c 'exit"), /it ends in an open '; close the quotes/);
    await refused(() => resolve("sh", undefined, { A: "b" }), /a program has no headers/);
  });

  test("variables before a command are its environment", async () => {
    const { target } = await resolve(`KEY='a b' _X= bun "my server.ts" C=d`);
    assertEquals(target, { command: "bun", args: ["my server.ts", "C=d"], env: { KEY: "a b", _X: "" } });
  });

  test("names of a config; headers of the command line win over its own", async () => {
    const folder = mkdtempSync(join(tmpdir(), "causeway-cli-"));
    const write = (name: string, value: unknown): string => {
      writeFileSync(join(folder, name), JSON.stringify(value));
      return join(folder, name);
    };
    const config = write("config.json", {
      mcpServers: {
        github: { url: "https://localhost/${CAUSEWAY_UNSET:-x}", headers: { A: "1", B: "2" } },
        unset: { url: "https://${env:CAUSEWAY_UNSET}/" },
        odd: { args: ["x"] },
        mixed: { command: "x", env: { A: 1 } },
        header: { url: "https://localhost/", headers: { A: "geheim…" } },
        scheme: { url: "file:///etc/passwd" },
      },
    });
    try {
      assertEquals(await resolve("github", config, { B: "3" }), {
        target: "https://localhost/x",
        headers: { A: "1", B: "3" },
        hint: "",
        entry: {
          server: { url: "https://localhost/x", headers: { A: "1", B: "2" }, secrets: [] },
          words: `github --config ${config}`,
          path: config,
        },
      });
      const commented = join(folder, "commented.json");
      writeFileSync(commented, '{ "servers": { /* off */ "off": { "command": "x", "disabled": true, }, }, } // end');
      assertEquals((await resolve("off", commented)).target, { command: "x", args: [], env: {} });
      await refused(() => resolve("gihtub", config), /^Unknown server "gihtub" in ".*" \(did you mean "github"\?\)/);
      await refused(() => resolve("__proto__", config), /^Unknown server "__proto__"/);
      await refused(
        () => resolve("unset", config),
        /config\.json: mcpServers\.unset\.url: .* "CAUSEWAY_UNSET" is not set: set it/,
      );
      await refused(
        () => resolve("odd", config),
        /config\.json: mcpServers\.odd: it has neither a "command" nor a "url"/,
      );
      await refused(
        () => resolve("mixed", config),
        /mcpServers\.mixed\.env\.A: expected a text, found a number: write it in double quotes/,
      );
      await refused(
        () => resolve("header", config),
        /mcpServers\.header\.headers\.A: its value holds characters that cannot be sent/,
      );
      await refused(() => resolve("scheme", config), /scheme\.url: "file:\/\/\/etc\/passwd" is no URL that can be/);
      await refused(
        () => resolve("x", join(folder, "none.json")),
        /none\.json": there is no such file; correct --config/,
      );
      await refused(() => resolve("x", write("list.json", [1])), /^Cannot use the config: .*list\.json: expected/);
      await refused(() => resolve("x", folder), /^Cannot read the config ".*": it is a folder/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("arguments", () => {
  const tool = {
    name: "add",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", minimum: 3 }, c: { enum: ["x"] } },
      required: ["a"],
      additionalProperties: false,
    },
  };
  const check = async (...words: string[]): Promise<void> => {
    checkArguments(tool, buildArguments(await readPieces(words, undefined, never), tool.inputSchema));
  };

  test("that fit pass, and so does what the schema cannot judge", async () => {
    await check("a=1", "b=3", "c=x");
    checkArguments({ name: "t", inputSchema: { $ref: "https://example.com/unknown" } }, { any: 1 });
  });

  test("that fit only since the schema says nothing of their name are warned of", () => {
    const properties = { limit: { type: "number" }, "dry-run": { type: "boolean" } };
    const warning = (args: JsonObject, inputSchema: JsonObject = { type: "object", properties }): string | undefined =>
      checkArguments({ name: "list", inputSchema }, args);
    const says = 'among the arguments of "list" there is no "lmit" (did you mean "limit"?); it is called all the same';
    assertEquals(warning({ limit: 1, lmit: 2 }), says);
    assertEquals(warning({ limit: 1 }), undefined);
    // Whoever says something of other names, or nothing of any, takes them.
    for (const additionalProperties of [true, {}, { type: "number" }]) {
      assertEquals(warning({ lmit: 2 }, { type: "object", properties, additionalProperties }), undefined);
    }
    assertEquals(warning({ lmit: 2 }, { type: "object" }), undefined);
    const many = warning({ a1: 1, b2: 2, c3: 3, d4: 4 }) ?? "";
    assertMatch(many, /there is no "a1"; there is no "b2"; there is no "c3"; …; it is called/);
  });

  test("that are missing are named, whatever they are called", async () => {
    const required = ["constructor", "toString", "__proto__"];
    const tool = { name: "t", inputSchema: { type: "object", required } };
    const says = /do not fit: "constructor" is missing; "toString" is missing; "__proto__" is missing; causeway/;
    await refused(() => Promise.resolve().then(() => checkArguments(tool, {})), says);
    checkArguments(tool, JSON.parse('{ "constructor": 1, "toString": 2, "__proto__": 3 }'));
  });

  test("that do not fit are named, the most helpful first", async () => {
    await refused(() => check("b=4"), /^The arguments of "add" do not fit: "a" is missing; causeway tools shows/);
    await refused(() => check("a=one"), /do not fit: "a" must be of the type number/);
    await refused(() => check("a=1", "B=1"), /do not fit: there is no "B" \(did you mean "b"\?\)/);
    await refused(() => check("a=1", "b=2"), /do not fit: "b" /);
    await refused(() => check("a=1", "c=y"), /do not fit: "c" /);
  });

  test("that a schema allows in other ways than by name are not called wrong, and each wrong one is told once", () => {
    const why = (schema: object, args: JsonObject): string => {
      const tool = { name: "t", inputSchema: { type: "object", ...schema } as Tool["inputSchema"] };
      const error = assertThrows(() => checkArguments(tool, args), UsageError) as UsageError;
      return error.message.replace(/^The arguments of "t" do not fit: (.*); causeway tools shows .*$/, "$1");
    };
    const number = { type: "number" };
    const wrong = '"a" must be of the type number, and is "x"';
    assertEquals(
      [
        why({ properties: { a: number }, additionalProperties: { type: "string" } }, { a: "x", "X-Other": "v" }),
        why({ properties: { a: number }, patternProperties: { "^x": {} } }, { a: "x", x1: 1 }),
        why({ properties: { a: {} }, patternProperties: { "^x": {} }, additionalProperties: false }, { x1: 1, y: 1 }),
        why({ allOf: [{ properties: { q: number } }], unevaluatedProperties: false }, { q: 1, z: 1 }),
        why({ allOf: [{ properties: { a: number }, required: ["b"] }] }, { a: "x" }),
        why({ if: { required: ["a"] }, then: { required: ["b"] } }, { a: 1 }),
        why({ properties: { "a/b": number } }, { "a/b": "x" }),
        why({ properties: { a: number }, required: ["a"] }, { A: 1 }),
      ],
      [
        wrong,
        wrong,
        'there is no "y"',
        'there is no "z"',
        `must have the property "b"; ${wrong}`,
        'must have the property "b"',
        '"a/b" must be of the type number, and is "x"',
        '"a" is missing; there is no "A" (did you mean "a"?)',
      ],
    );
  });

  test("that cannot be read are refused", async () => {
    await refused(() => check("hello"), /^Cannot read the argument "hello": write key=value/);
    await refused(() => check("=1"), /^Cannot read the argument "=1"/);
    await refused(() => check(":=1"), /^Cannot read the argument ":=1"/);
    await refused(() => check("a:=1x"), /^Cannot read the value of "a": it is not JSON/);
    await refused(() => check("{a"), /^Cannot read the argument: it is not JSON/);
    await refused(
      () => check("@/no/such/file.json"),
      /^Cannot read the file "\/no\/such\/file\.json": there is no such file/,
    );
    await refused(() => readPieces([], "[1]", never), /^Cannot use --args as arguments: expected a JSON object/);
  });
});
