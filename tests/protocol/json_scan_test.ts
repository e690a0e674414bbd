import { describe, test } from "node:test";
import fc from "fast-check";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { LimitExceededError } from "../../src/protocol/errors.ts";
import { parseJson } from "../../src/protocol/limits/json_scan.ts";

const wide = { jsonDepth: 128, jsonNodes: 1_000_000 };

/** Depth and number of values of what was parsed, the plain way. */
function measure(value: unknown): { depth: number; nodes: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, nodes: 1 };
  let depth = 0;
  let nodes = 1;
  for (const inner of Object.values(value)) {
    const below = measure(inner);
    depth = Math.max(depth, below.depth);
    nodes += below.nodes;
  }
  return { depth: depth + 1, nodes };
}

/** The limit that a text passes, or undefined when it is taken. */
function refusal(text: string, limits: typeof wide): string | undefined {
  try {
    assertEquals(parseJson(text, limits), JSON.parse(text));
    return undefined;
  } catch (error) {
    assert(error instanceof LimitExceededError, String(error));
    assert(error.seen > error.value);
    return error.limit;
  }
}

describe("JSON under limits: depth", () => {
  for (const [name, open, close] of [["arrays", "[", "]"], ["objects", '{"a":', "}"]] as const) {
    const nest = (depth: number): string => open.repeat(depth) + (name === "arrays" ? "" : "1") + close.repeat(depth);

    test(`127 and 128 nested ${name} are taken, 129 are not`, () => {
      assertEquals(refusal(nest(127), wide), undefined);
      assertEquals(refusal(nest(128), wide), undefined);
      assertEquals(refusal(nest(129), wide), "limits.jsonDepth");
    });

    test(`a million nested ${name} are refused without a stack overflow, whatever the node limit says`, () => {
      const text = nest(1_000_000);
      const error = assertThrows(() => parseJson(text, { ...wide, jsonNodes: 1e9 }), LimitExceededError);
      assertEquals([error.limit, error.value, error.seen], ["limits.jsonDepth", 128, 129]);
    });
  }

  test("scalars have no depth, and a limit of 0 takes only them", () => {
    for (const text of ["1", '"a"', "null", "true"]) assertEquals(refusal(text, { ...wide, jsonDepth: 0 }), undefined);
    assertEquals(refusal("{}", { ...wide, jsonDepth: 0 }), "limits.jsonDepth");
  });

  test("a limit beyond 1,000 counts as 1,000, so that the walk cannot exhaust a stack", () => {
    const limits = { jsonDepth: 1e9, jsonNodes: 1e9 };
    const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
    assert(Array.isArray(parseJson(nest(1_000), limits)));
    assertEquals(assertThrows(() => parseJson(nest(1_001), limits), LimitExceededError).value, 1_000);
  });

  test("brackets in strings are text", () => {
    assertEquals(refusal(JSON.stringify(["[".repeat(500), '"[{\\"'.repeat(500)]), wide), undefined);
  });
});

describe("JSON under limits: nodes", () => {
  const exactly: [name: string, make: (nodes: number) => string][] = [
    ["numbers in an array", (nodes) => `[${Array(nodes - 1).fill("1").join(",")}]`],
    ["empty arrays", (nodes) => `[${Array(nodes - 1).fill("[]").join(" , ")}]`],
    ["empty objects with white space inside", (nodes) => `[${Array(nodes - 1).fill("{ \n}").join(",")}]`],
    ["pairs of nested arrays", (nodes) => `[${Array((nodes - 1) / 2).fill("[[]]").join(",")}]`],
    ["strings with quotes and commas", (nodes) => JSON.stringify(Array(nodes - 1).fill('a","\\'))],
    ["members of an object", (nodes) => `{${Array.from({ length: nodes - 1 }, (_, at) => `"${at}":{}`).join(",")}}`],
  ];
  for (const [name, make] of exactly) {
    test(`${name}: as many as the limit are taken, one more is not`, () => {
      const limits = { jsonDepth: 128, jsonNodes: 1_001 };
      assertEquals(refusal(make(999), limits), undefined);
      assertEquals(refusal(make(1_001), limits), undefined);
      assertEquals(refusal(make(1_003), limits), "limits.jsonNodes");
      assertEquals(refusal(make(1_001), { ...limits, jsonNodes: 1_000 }), "limits.jsonNodes");
    });
  }

  test("a long text with few values is taken", () => {
    const text = JSON.stringify({ text: 'say "a, b" [c] {d}\\'.repeat(150_000) });
    assert(text.length > 2 * wide.jsonNodes);
    assertEquals(refusal(text, wide), undefined);
  });

  test("node bombs of 4 MiB are refused before they are parsed", () => {
    for (const bomb of ["{},", "[],", "[[]],"]) {
      const text = `[${bomb.repeat(2 ** 22 / bomb.length)}0]`;
      const error = assertThrows(() => parseJson(text, { ...wide, jsonNodes: 250_000 }), LimitExceededError);
      assertEquals([error.limit, error.value, error.seen], ["limits.jsonNodes", 250_000, 250_001]);
    }
  });
});

describe("JSON under limits: what is no JSON", () => {
  test("is a SyntaxError, short or long", () => {
    const padding = " ".repeat(100);
    for (const text of ["", "{", '"', '"\\', '"\\"', "[1,]", "nul", "]", "\ufeff{}", "1 2", '{"a" 1}', "'a'"]) {
      assertThrows(() => parseJson(text, wide), SyntaxError);
      assertThrows(() => parseJson(padding + text, { ...wide, jsonNodes: 20 }), SyntaxError);
    }
  });
});

describe("JSON under limits: properties", () => {
  const spaced = fc.tuple(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 1, "\t"))
    .map(([value, indent]) => JSON.stringify(value, null, indent));
  const nasty = fc.array(fc.constantFrom("a", '"', "\\", "\\\\", ",", "[", "]", "{", "}", "\u2028", "€", " "), {
    maxLength: 200,
  })
    .map((parts) => JSON.stringify([parts.join(""), [], parts.join(""), parts.length]));

  test("taken means within both limits, refused means past the limit that is named", () => {
    fc.assert(
      fc.property(
        fc.oneof(spaced, nasty),
        fc.integer({ min: -1, max: 1 }),
        fc.integer({ min: -1, max: 1 }),
        (text, more, deeper) => {
          const { depth, nodes } = measure(JSON.parse(text));
          const limits = { jsonDepth: Math.max(0, depth + deeper), jsonNodes: Math.max(0, nodes + more) };
          const expected = nodes > limits.jsonNodes
            ? "limits.jsonNodes"
            : depth > limits.jsonDepth
            ? "limits.jsonDepth"
            : undefined;
          assertEquals(refusal(text, limits), expected, text);
        },
      ),
      { numRuns: 4_000 },
    );
  });

  test("any text at all gives a value, a SyntaxError or a LimitExceededError", () => {
    const text = fc.array(fc.constantFrom(...'[]{}",:\\ 1a\n'), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (given) => {
        try {
          parseJson(given, { jsonDepth: 3, jsonNodes: 8 });
        } catch (error) {
          assert(error instanceof SyntaxError || error instanceof LimitExceededError, String(error));
        }
      }),
      { numRuns: 4_000 },
    );
  });
});
