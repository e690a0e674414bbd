/** How a child is ended on Windows, as far as another system can play it: with a `taskkill` that writes down what it is told. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import type { ChildBooks } from "../../src/runtime/children/child.ts";
import { until } from "../suites/spawn.ts";

const skip = "Bun" in globalThis ? "Bun knows its platform when it is built" : process.platform === "win32";

/** The module as Windows would have it. */
async function loadForWindows(): Promise<{ ChildBooks: typeof ChildBooks }> {
  const own = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
  Object.defineProperty(process, "platform", { configurable: true, get: () => "win32" });
  try {
    return await import(new URL("../../src/runtime/children/child.ts?windows", import.meta.url).href);
  } finally {
    Object.defineProperty(process, "platform", own);
  }
}

test("on Windows what has ended is not killed: its number may be another program's", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-taskkill-"));
  const root = process.env.SystemRoot;
  const [log, program] = [`${folder}/log`, `${folder}/root\\System32\\taskkill.exe`];
  try {
    const { ChildBooks } = await loadForWindows();
    writeFileSync(log, "");
    writeFileSync(program, `#!/bin/sh\necho "$@" >> ${log}\n`, { mode: 0o755 });
    process.env.SystemRoot = `${folder}/root`;
    const heard = { output() {}, outputEnd() {}, errorOutput() {}, exit() {} };
    const books = new ChildBooks(4_242, "server", heard, () => {});
    books.kill("SIGTERM");
    await until(() => readFileSync(log, "utf8") !== "", "taskkill");
    books.exit({ code: 0, signal: null });
    books.kill("SIGKILL");
    await new Promise((resolve) => setTimeout(resolve, 300));
    assertEquals(readFileSync(log, "utf8"), "/pid 4242 /T\n");
  } finally {
    if (root === undefined) delete process.env.SystemRoot;
    else process.env.SystemRoot = root;
    rmSync(folder, { recursive: true });
  }
});
