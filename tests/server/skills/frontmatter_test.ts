import { describe, test } from "node:test";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { readPlain } from "../../../src/server/skills/folder.ts";
import { stopwatch } from "../../support/clocks/stopwatch.ts";

function read(...lines: string[]) {
  return readPlain("a skill", ["---", ...lines, "---", "", "# Text"].join("\n"));
}

describe("the frontmatter of a skill", () => {
  test("plain pairs, texts in quotes, numbers, truth values and nothing", () => {
    const seen = read(
      "# what this is",
      "name: pdf-processing",
      "description: Extract text (and tables) from PDF files; 3 ways to do it, see http://example.com",
      "",
      'quoted: "a: b # c \\u00e9"',
      "single: 'it''s: fine'",
      "count: 12",
      "negative: -3",
      "open: true",
      "empty:",
      "license: Apache-2.0  ",
    );
    assertEquals(seen, {
      name: "pdf-processing",
      description: "Extract text (and tables) from PDF files; 3 ways to do it, see http://example.com",
      quoted: "a: b # c é",
      single: "it's: fine",
      count: 12,
      negative: -3,
      open: true,
      empty: null,
      license: "Apache-2.0",
    });
  });

  test("what is indented is pairs or a list, and JSON stays what it is", () => {
    const seen = read(
      "metadata:",
      '  version: "1.0"',
      "  example.com/author: Ada",
      "allowed-tools:",
      "  - Read",
      "  - 'Bash(git:*)'",
      'tags: ["a", 1, {"b": null}]',
      'more: {"deep": [true]}',
      "blanks: «\u00a0a\u00a0»\u3000b \t",
    );
    assertEquals(seen, {
      metadata: { version: "1.0", "example.com/author": "Ada" },
      "allowed-tools": ["Read", "Bash(git:*)"],
      tags: ["a", 1, { b: null }],
      more: { deep: [true] },
      blanks: "«\u00a0a\u00a0»\u3000b",
    });
  });

  test("a line of many blanks is read once", () => {
    const took = stopwatch();
    const blanks = " \t".repeat(100_000);
    assertEquals(read(`name:${blanks}a`), { name: "a" });
    assertThrows(() => read(`name:${blanks}\u2028a`), TypeError);
    // Work that grows with the square takes a minute.
    assert(took() < 5_000);
  });

  test("a paragraph after a mark is one text", () => {
    const seen = read(
      "description: >-",
      "  Reads PDF: files,",
      "  # and - [more] \"of\" 'it'",
      "licence: |-",
      "   one",
      "   1.0",
      "",
      "clipped: >",
      " a",
      " b",
      "lines: |",
      " a",
      " b",
      "last: |-",
      "  yes",
    );
    assertEquals(seen, {
      description: "Reads PDF: files, # and - [more] \"of\" 'it'",
      licence: "one\n1.0",
      clipped: "a b\n",
      lines: "a\nb\n",
      last: "yes",
    });
  });

  test("files of Windows and a byte order mark are read alike", () => {
    const text = "\uFEFF---\r\nname: a\r\nmetadata:\r\n  b: c\r\n---\r\n# Text\r\n";
    assertEquals(readPlain("a skill", text), { name: "a", metadata: { b: "c" } });
    assertEquals(readPlain("a skill", "---\nname: a\n---"), { name: "a" });
  });

  test("what readers of YAML do not all take for the same is refused, and so is what is more than plain", () => {
    const bad = [
      "version: 1.0",
      "version: 1e3",
      "day: 2026-11-20",
      "time: 12:30",
      "octal: 010",
      "hex: 0x1f",
      "large: 1234567890123456",
      "switch: on",
      "answer: No",
      "none: ~",
      "none: null",
      "number: .inf",
      "yes: key",
      "text: a: b",
      "text: a # b",
      "text: #b",
      "text: a:",
      "text: >",
      "text: |-",
      "text: >-\nmore: a",
      // Whether it ends in a line end depends on the reader.
      "text: |\n  a",
      "text: >\n  a\n\nmore: b",
      "text: >-\n  a\n\n  b",
      "text: >-\n  a\n    b",
      "text: >-\n    a\n  b",
      "text: >-\n\n  a",
      "text: >-\n  a ",
      "text: |-\n  a\tb",
      "text: |-\n\ta",
      "text: |-\n  a\u2028b",
      "text: |+\n  a",
      "text: |2-\n  a",
      "text: >- # b\n  a",
      "metadata:\n  a: >-\n    b",
      "text: &anchor a",
      "text: *alias",
      "text: !tag a",
      "text: - a",
      "text: @a",
      "text: 'a",
      'text: "a" b',
      "text: [a, b]",
      "text: {a: b}",
      "text:no space",
      "- a",
      "just text",
      "  indented: first",
      "name: a\nname: b",
      "name: a\n  continued",
      "metadata:\n  a: b\n    c: d",
      "metadata:\n  a:\n  b: c",
      "metadata:\n  a: b\n  a: c",
      "metadata:\n  - a\n  b: c",
      "metadata:\n\ta: b",
      "text: a\u0000b",
      // No blank for YAML, and none that anybody sees.
      ...["\u00a0", "\u3000", "\ufeff", "\u0085", "\u2028"].flatMap((blank) => [
        `text: a${blank}`,
        `text: ${blank}a`,
        `text: ${blank}`,
        `text: 'a'${blank}`,
        `text: 1${blank}`,
        `list:\n  - a${blank}`,
        `list:\n  - ${blank}a`,
        blank,
      ]),
      "text: a\u2028b",
    ];
    for (const line of bad) {
      assertThrows(() => read(line), TypeError, "its frontmatter says", line);
    }
  });

  test("a text without any is refused", () => {
    for (const text of ["", "# Text", "---\nname: a\n", "text\n---\nname: a\n---\n", " ---\nname: a\n---\n"]) {
      assertThrows(() => readPlain("a skill", text), TypeError, '"markdown" is');
    }
  });
});
