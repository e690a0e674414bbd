import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { fillIn } from "../../../src/hub/config/interpolate.ts";
import type { Variables } from "../../../src/hub/config/interpolate.ts";

const none: Variables = { environment: {}, inputs: {}, definitions: new Map(), platform: "linux" };
const some: Variables = {
  ...none,
  environment: { TOKEN: "t0k3n-t0k3n", EMPTY: "", HOME: "/home/ada", NESTED: "${TOKEN}", A: "1" },
  inputs: { key: "k3y-k3y", gone: undefined },
  home: "/home/ada",
  folder: "/work/app",
};

function textOf(text: string, variables: Variables = some): string {
  const filled = fillIn(text, variables);
  assert(!("wrong" in filled), JSON.stringify(filled));
  return filled.text;
}

function wrongOf(text: string, variables: Variables = some): string {
  const filled = fillIn(text, variables);
  assert("wrong" in filled, JSON.stringify(filled));
  return filled.wrong();
}

describe("variables in configs", () => {
  test("of the environment, inputs and places", () => {
    const cases: [string, string][] = [
      ["Bearer ${TOKEN}", "Bearer t0k3n-t0k3n"],
      ["${env:TOKEN}", "t0k3n-t0k3n"],
      ["${A}${A}-${env:A:-2}", "11-1"],
      ["${UNSET:-x y}", "x y"],
      ["${UNSET:-}", ""],
      ["${EMPTY:-x}", "x"],
      ["${env:UNSET:-https://example.com/a:-b}", "https://example.com/a:-b"],
      ["${input:key}", "k3y-k3y"],
      ["${userHome}/x", "/home/ada/x"],
      ["${workspaceFolder}/${workspaceFolderBasename}", "/work/app/app"],
      ["a${/}b${pathSeparator}c", "a/b/c"],
      ["$${TOKEN}", "${TOKEN}"],
      ["$TOKEN $ $$ {TOKEN} $}", "$TOKEN $ $$ {TOKEN} $}"],
      ["${NESTED}", "${TOKEN}"],
    ];
    for (const [text, filled] of cases) assertEquals(textOf(text), filled, text);
  });

  test("of Windows: names without case, backslashes, the profile", () => {
    const windows: Variables = {
      ...none,
      platform: "windows",
      environment: { Path: "p", USERPROFILE: "C:\\Users\\Ada" },
    };
    assertEquals(textOf("${PATH}${/}${userHome}", windows), "p\\C:\\Users\\Ada");
    assertEquals(textOf("${workspaceFolderBasename}", { ...windows, folder: "C:\\work\\app\\" }), "app");
    assertEquals(wrongOf("${path}", { ...windows, platform: "linux" }).includes('"path" is not set'), true);
  });

  test("what is secret is told, what says where one is is not", () => {
    const secretsOf = (text: string): readonly string[] => {
      const filled = fillIn(text, some);
      return "secrets" in filled ? filled.secrets : [];
    };
    assertEquals(secretsOf("${TOKEN} ${input:key} ${UNSET:-default}"), ["t0k3n-t0k3n", "k3y-k3y"]);
    assertEquals(secretsOf("${HOME} ${userHome} ${workspaceFolder} $${TOKEN}"), []);
  });

  test("what is missing is named, its value and defaults never are", () => {
    assertEquals(
      wrongOf("x ${UNSET}"),
      'the environment variable "UNSET" is not set: set it, or write "${UNSET:-default}"',
    );
    assertEquals(wrongOf("${EMPTY}").startsWith('the environment variable "EMPTY" is not set'), true);
    assertEquals(wrongOf("${TOKN}").includes('(did you mean "TOKEN"?)'), true);
    assertEquals(wrongOf("${input:gone}"), 'there is no input "gone": define it in "inputs", or give its value');
    for (
      const text of [
        "${constructor}",
        "${__proto__}",
        "${input:constructor}",
        "${input:__proto__}",
        "${userHome}",
        "${}",
      ]
    ) {
      assert(wrongOf(text, none) !== "", text);
    }
    for (
      const text of ["${A:=geheim}", "${A:?geheim}", "${A-geheim}", "${A geheim}", "${file:geheim}", "${1geheim}", "${"]
    ) {
      assert(!wrongOf(text).includes("geheim"), text);
    }
  });

  test("a variable inside of another one is no default", () => {
    assert(wrongOf("${A:-${B}}").startsWith('a default holds a "$"'));
    for (const text of ["${env:${NAME}}", "${A${B}}", "${${B:-c}}"]) {
      assert(wrongOf(text).startsWith("a variable stands inside of another one"), wrongOf(text));
    }
  });

  test("inputs: defaults, and choices", () => {
    const choice = { id: "c", type: "pickString", password: false, options: ["red", "blue"], default: "red" } as const;
    const variables = { ...none, definitions: new Map([["c", choice]]) };
    assertEquals(textOf("${input:c}", variables), "red");
    assertEquals(textOf("${input:c}", { ...variables, inputs: { c: "blue" } }), "blue");
    assertEquals(
      wrongOf("${input:c}", { ...variables, inputs: { c: "green" } }),
      'the answer to the input "c" is no choice: expected one of "red", "blue"',
    );
  });

  test("any text comes through when it is escaped", () => {
    const parts = fc.array(fc.constantFrom("$", "{", "}", "${", "$${", "a", "TOKEN", ":-", "\n"), { maxLength: 12 });
    fc.assert(fc.property(fc.oneof(fc.string(), parts.map((list) => list.join(""))), (text) => {
      assertEquals(textOf(text.replaceAll("${", () => "$${")), text);
      if (!text.includes("${")) assertEquals(textOf(text), text);
    }));
  });

  test("a value comes in as it is, whatever it holds, and is secret", () => {
    const plain = fc.string().map((text) => text.replaceAll("$", ""));
    const value = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom("${A}", "$&", "$1", "$$", "}"));
    fc.assert(fc.property(plain, value, plain, (before, inner, after) => {
      const variables = { ...none, environment: { X: inner } };
      assertEquals(fillIn(`${before}\${X}${after}`, variables), { text: before + inner + after, secrets: [inner] });
    }));
  });

  test("it never throws, and names no value", () => {
    const part = fc.constantFrom(
      "${",
      "}",
      "$",
      ":-",
      "env:",
      "input:",
      "TOKEN",
      "UNSET",
      "geheim",
      "/",
      " ",
      "\0",
      "é",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 15 }), (parts) => {
        const filled = fillIn(parts.join(""), { ...some, environment: { TOKEN: "t0k3n" } });
        if ("wrong" in filled) assert(!filled.wrong().includes("t0k3n"), filled.wrong());
      }),
      { numRuns: 2_000 },
    );
  });
});
