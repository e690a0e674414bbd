import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { columns, pairs, wrap } from "../../../src/cli/text/table.ts";

describe("text in columns", () => {
  const rows = [["ok", "runtime", "causeway on Bun"], [
    "!!",
    "a-server",
    "Cannot start it: there is no such program here",
  ]];

  test("aligned, and whole where no terminal is", () => {
    assertEquals(
      columns(rows, undefined),
      "ok  runtime   causeway on Bun\n!!  a-server  Cannot start it: there is no such program here\n",
    );
    assertEquals(columns([], 80), "");
  });

  test("cut in the widest column, or below each other: no line is wider than the terminal", () => {
    assertEquals(columns(rows, 30), "ok  runtime   causeway on Bun\n!!  a-server  Cannot start it…\n");
    assertEquals(
      columns(rows, 32, { wrapsLast: true, indent: 1 }),
      " ok  runtime   causeway on Bun\n !!  a-server  Cannot start it:\n               there is no such\n               program here\n",
    );
    for (const width of [40, 80]) {
      for (const wrapsLast of [true, false]) {
        const wide = [...rows, ["x".repeat(50), "y".repeat(60), "z".repeat(200)]];
        const lines = columns(wide, width, { wrapsLast, indent: 2 }).split("\n");
        assertEquals(lines.filter((line) => line.length > width), []);
      }
    }
  });

  test("what takes two columns of a terminal is counted as two, and no character is cut in half", () => {
    assertEquals(wrap("日本語の説明です", 8), ["日本語の", "説明です"]);
    assertEquals(wrap("a 🙂🙂🙂🙂🙂", 8), ["a", "🙂🙂🙂🙂", "🙂"]);
    assertEquals(wrap("e\u0301".repeat(9), 8), ["e\u0301".repeat(8), "e\u0301"]);
    const named = [["検索", "探す"], ["ab", "한국어 설명"]];
    assertEquals(columns(named, undefined), "検索  探す\nab    한국어 설명\n");
    assertEquals(columns([["a", "日本語の説明です"]], 14), "a  日本語の説…\n");
    assertEquals(columns([["a", "🙂🙂🙂🙂🙂🙂"]], 14), "a  🙂🙂🙂🙂🙂…\n");
    assertEquals(pairs([["語", "b"], ["cc", "d"]], 80), "  語  b\n  cc  d\n");
  });

  test("words are kept whole where they can be", () => {
    assertEquals(wrap("one two three", 9), ["one two", "three"]);
    assertEquals(wrap("abcdefghijkl m", 8), ["abcdefgh", "ijkl m"]);
    assertEquals(pairs([["a", "b"], ["cc", ""]], 80), "  a   b\n  cc\n");
    assertEquals(pairs([["a", "one two three four five six"]], 20), "  a\n      one two three\n      four five six\n");
    assert(pairs([["x".repeat(31), "about"]], 80).includes("\n"));
  });
});
