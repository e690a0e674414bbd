import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseJsonc } from "../../../src/hub/config/jsonc.ts";

function valueOf(text: string): unknown {
  const result = parseJsonc(text);
  assert(!("fault" in result), JSON.stringify(result));
  return result.value;
}

describe("JSON with comments", () => {
  test("comments, trailing commas and a byte order mark are taken", () => {
    const text = `\uFEFF// first
      { /* a */ "a" /**/ : [1, 2, /* three */ 3,], // "b": 1
        "url": "https://example.com//x/*y*/", "c": {"d": null,}, /* end */ }
      // last`;
    assertEquals(valueOf(text), { a: [1, 2, 3], url: "https://example.com//x/*y*/", c: { d: null } });
    for (const end of ["\n", "\r\n", "\r"]) {
      assertEquals(valueOf(text.replaceAll("\n", end)), valueOf(text), JSON.stringify(end));
    }
  });

  test("all else is as strict as JSON", () => {
    const texts = ["[,]", "{,}", "[1,,2]", "01", "1.", ".5", "+1", "- 1", "1e", "'a'", '"\t"', '"\\x41"', '"\\u12g4"'];
    for (const text of [...texts, "[1 2]", '{"a" 1}', "{a: 1}", "tru", "nulll", "NaN", "/", "/*/", "\u00a01"]) {
      assert("fault" in parseJsonc(text), text);
    }
  });

  test("whatever is JSON is read as JSON.parse reads it", () => {
    fc.assert(fc.property(fc.json({ maxDepth: 20 }), fc.nat(3), (text, indent) => {
      const value: unknown = JSON.parse(text);
      assertEquals(valueOf(text), value);
      assertEquals(valueOf(JSON.stringify(value, undefined, indent)), value);
    }));
  });

  test("what JSON.parse takes is taken, whatever was done to the text", () => {
    const part = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"',
      "\\",
      "1",
      "-",
      ".",
      "e",
      "true",
      " ",
      "\n",
      '"a"',
      "u0041",
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }).map((parts) => parts.join("")), (text) => {
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          const result = parseJsonc(text);
          if ("fault" in result) assert(result.fault.line >= 1 && result.fault.column >= 1);
          // Only comments and commas before an end make the difference.
          else assert(/,\s*[}\]]/.test(text), text);
          return;
        }
        assertEquals(valueOf(text), expected);
      }),
      { numRuns: 5_000 },
    );
  });

  test("names that mean something to JavaScript are plain names", () => {
    const value = valueOf('{ "__proto__": { "polluted": true }, "constructor": 1, "toString": 2 }');
    assertEquals(Object.keys(Object(value)), ["__proto__", "constructor", "toString"]);
    assertEquals(Object.getPrototypeOf(value), Object.prototype);
    assertEquals(({} as { polluted?: unknown }).polluted, undefined);
  });

  test("names that stand twice are told with their place; the last one counts", () => {
    const result = parseJsonc('{\n  "a": 1,\n  "b": { "x": [{ "y": 1, "y": 2 }] },\n  "a": 3\n}');
    assert(!("fault" in result));
    assertEquals(result.value, { a: 3, b: { x: [{ y: 2 }] } });
    assertEquals(result.repeated, [
      { path: ["b", "x", "0", "y"], line: 3, column: 26 },
      { path: ["a"], line: 4, column: 3 },
    ]);
  });

  test("faults have the place where they are, in characters", () => {
    const places: [string, number, number][] = [
      ["", 1, 1],
      ["{\n\n  \u{1f600}", 3, 3],
      ['{ "a": "x\n" }', 1, 8],
      ["[1,\r\n2,\r\n3 4]", 3, 3],
      ['{ "a" = 1 }', 1, 7],
      ['{ "a" 1 }', 1, 7],
      ['[ "a\u0007" ]', 1, 5],
      ["/* 1\n 2 */ /* 3", 2, 7],
    ];
    for (const [text, line, column] of places) {
      const result = parseJsonc(text);
      assert("fault" in result, text);
      assertEquals([result.fault.line, result.fault.column], [line, column], text);
      assert(/^[^\n]+$/.test(result.fault.what));
    }
  });
});
