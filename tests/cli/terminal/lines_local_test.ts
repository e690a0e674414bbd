/** What is typed at a terminal, and when it counts. */
import { spawn } from "node:child_process";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { readLines } from "../../../src/cli/ask/ask.ts";

const skip = process.platform === "win32" ? "it needs a POSIX shell" : false;

/** Stands still, as where the machine gives a program no time. */
function standStill(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

describe("lines that are typed", () => {
  test("before a question are forgotten, however long the program stood still meanwhile", { skip }, async () => {
    // It says on its standard error that all was typed: the next line is typed when it is told to.
    const typist = spawn("sh", ["-c", "echo early; echo typed >&2; read go; echo late; read end"]);
    try {
      await new Promise((resolve) => typist.stderr.once("data", resolve));
      const lines = readLines(typist.stdout);
      standStill(300);
      await lines.forget();
      typist.stdin.write("go\n");
      assertEquals(await lines.next(new AbortController().signal), "late");
    } finally {
      typist.kill("SIGKILL");
    }
  });
});
