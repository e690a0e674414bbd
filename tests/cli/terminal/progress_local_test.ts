import process from "node:process";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { clearLine, createProgressLine, createSpinner } from "../../../src/cli/terminal.ts";

/** What is written to the standard error while it is a terminal of this kind. */
function onTerminal(
  { term = "xterm", columns }: { readonly term?: string; readonly columns?: number },
  show: () => void,
): string[] {
  const { stderr } = process;
  const before = { isTTY: stderr.isTTY, columns: stderr.columns, write: stderr.write };
  const { TERM } = process.env;
  const written: string[] = [];
  try {
    process.env.TERM = term;
    Object.assign(stderr, { isTTY: true, ...(columns !== undefined && { columns }) });
    const write = (text: string, done?: () => void): boolean => {
      done?.();
      return written.push(text) > 0;
    };
    Object.assign(stderr, { write });
    show();
  } finally {
    Object.assign(stderr, before);
    if (TERM === undefined) delete process.env.TERM;
    else process.env.TERM = TERM;
  }
  return written;
}

test("a sign of progress shows what makes sense of it, and steers no terminal", () => {
  const signs: unknown[] = [
    { progress: 1, total: "\u001b]0;title\u0007", message: "a\u001b[31mb" },
    { progress: 2, total: 4, message: null },
    { progress: 4, total: 4, message: 5 },
  ];
  const written = onTerminal({}, () => {
    for (const sign of signs) {
      createProgressLine().show(sign as Parameters<ReturnType<typeof createProgressLine>["show"]>[0]);
    }
  });
  assertEquals(written.map((text) => text.replace("\r\u001b[K", "").trimEnd()), ["1 ab", "2/4", "4/4"]);
});

test("a terminal that cannot redraw a line is shown no progress, and nothing that would erase it", () => {
  const show = (): void => {
    const line = createProgressLine();
    line.show({ progress: 1, total: 2, message: "half" });
    line.clear();
    createSpinner("connects").clear();
    void clearLine();
  };
  assertEquals(onTerminal({ term: "dumb" }, show), []);
  assertEquals(onTerminal({}, show).length, 3);
});

test("a sign of progress takes one line of the terminal, however wide its characters are", () => {
  const written = onTerminal({ columns: 12 }, () => {
    createProgressLine().show({ progress: 1, message: "文書を読んでいます" });
    createProgressLine().show({ progress: 2, message: "🙂🙂🙂🙂🙂🙂🙂" });
  });
  assertEquals(written.map((text) => text.replace("\r\u001b[K", "")), ["1 文書を読", "2 🙂🙂🙂🙂"]);
});
