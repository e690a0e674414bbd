import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { passes } from "../../../src/hub/connection/listing.ts";

test("a star in a filter stands for any characters, and nothing else does", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["read", "read", true],
    ["read", "read_file", false],
    ["read_*", "read_file", true],
    ["read_*", "read_", true],
    ["*_file", "read_file", true],
    ["r*d*e", "read_file", true],
    ["r*x*e", "read_file", false],
    ["a.b", "axb", false],
    ["a.b", "a.b", true],
    ["(a+)+$", "(a+)+$", true],
    ["ab*ba", "aba", false],
    ["*a*a*a*a*b", "a".repeat(100_000), false],
    ["**", "anything", true],
    ["*", "", true],
    ["", "", true],
    ["a", "", false],
    ["a\nb*", "a\nbc\nd", true],
    ["ä-*", "ä-1", true],
    ["😀*", "😀1", true],
  ];
  for (const [pattern, name, expected] of rows) {
    assertEquals(passes(name, { allow: [pattern] }), expected, `${pattern} of ${name}`);
    assertEquals(passes(name, { deny: [pattern] }), !expected, `${pattern} of ${name}`);
  }
  assertEquals(passes("a", {}), true);
  assertEquals(passes("a", { allow: [] }), false);
  assertEquals(passes("a", { allow: ["*"], deny: ["a"] }), false);
});
