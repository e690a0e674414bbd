import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { describe, test } from "node:test";
import { canonicalJson } from "../../../src/hub/pins/canonical.ts";

/** The same value with the members of each object in another order. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).reverse().map(([name, inner]) => [name, shuffled(inner)]));
}

const json = fc.jsonValue({ maxDepth: 5, noUnicodeString: false });

describe("canonical JSON", () => {
  test("is JSON of the same value", () => {
    fc.assert(fc.property(json, (value) => {
      assertEquals(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
    }));
  });

  test("does not depend on the order of members", () => {
    fc.assert(fc.property(json, (value) => {
      assertEquals(canonicalJson(shuffled(value)), canonicalJson(value));
      assertEquals(canonicalJson(JSON.parse(canonicalJson(value))), canonicalJson(value));
    }));
  });

  test("is another text for each other value", () => {
    fc.assert(fc.property(json, json, (one, other) => {
      const same = JSON.stringify(shuffled(sorted(one))) === JSON.stringify(shuffled(sorted(other)));
      assertEquals(canonicalJson(one) === canonicalJson(other), same);
    }));
    const texts = [
      [],
      {},
      "",
      0,
      null,
      false,
      "0",
      [0],
      ["0"],
      { a: 0 },
      { a: null },
      [[]],
      "\ud800",
      "\udc00",
      "\ufffd",
    ];
    assertEquals(new Set(texts.map(canonicalJson)).size, texts.length);
  });

  test("goes by code units, as RFC 8785 has it, and leaves out what is undefined", () => {
    const value = {
      "\u20ac": 1,
      "\r": 2,
      "\ufb33": 3,
      "1": 4,
      "\u{1f600}": 5,
      "\u0080": 6,
      "\u00f6": 7,
      gone: undefined,
    };
    const expected = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}';
    assertEquals(canonicalJson(value), expected);
    assertEquals(canonicalJson([-0, 1e21, 0.000001, 1e-7]), "[0,1e+21,0.000001,1e-7]");
    assertEquals(canonicalJson(JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}');
  });

  test("what is no JSON is refused", () => {
    for (const value of [undefined, NaN, Infinity, 1n, Symbol("a"), () => 1, [undefined], { a: NaN }, [, 1]]) {
      assertThrows(() => canonicalJson(value), TypeError, "is none");
    }
    const nested = (depth: number): unknown => depth === 0 ? 1 : [nested(depth - 1)];
    assert(canonicalJson(nested(256)).length > 256);
    assertThrows(() => canonicalJson(nested(257)), RangeError, "256");
    const circle: unknown[] = [];
    circle.push(circle);
    assertThrows(() => canonicalJson(circle), RangeError);
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === "number") return value + 0 === 0 ? 0 : value;
  if (typeof value !== "object" || value === null) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted((value as Record<string, unknown>)[name])]));
}
