import process from "node:process";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { createProgressLine } from "../../../src/cli/terminal.ts";

test("a sign of progress shows what makes sense of it, and steers no terminal", () => {
  const { stderr } = process;
  const before = { isTTY: stderr.isTTY, write: stderr.write };
  const written: string[] = [];
  try {
    stderr.isTTY = true;
    stderr.write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
    const signs: unknown[] = [
      { progress: 1, total: "\u001b]0;title\u0007", message: "a\u001b[31mb" },
      { progress: 2, total: 4, message: null },
      { progress: 4, total: 4, message: 5 },
    ];
    for (const sign of signs) {
      createProgressLine().show(sign as Parameters<ReturnType<typeof createProgressLine>["show"]>[0]);
    }
  } finally {
    Object.assign(stderr, before);
  }
  assertEquals(written.map((text) => text.replace("\r\u001b[K", "").trimEnd()), ["1 ab", "2/4", "4/4"]);
});

test("a sign of progress takes one line of the terminal, however wide its characters are", () => {
  const { stderr } = process;
  const before = { isTTY: stderr.isTTY, columns: stderr.columns, write: stderr.write };
  const written: string[] = [];
  try {
    Object.assign(stderr, { isTTY: true, columns: 12 });
    stderr.write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0;
    createProgressLine().show({ progress: 1, message: "文書を読んでいます" });
    createProgressLine().show({ progress: 2, message: "🙂🙂🙂🙂🙂🙂🙂" });
  } finally {
    Object.assign(stderr, before);
  }
  assertEquals(written.map((text) => text.replace("\r\u001b[K", "")), ["1 文書を読", "2 🙂🙂🙂🙂"]);
});
