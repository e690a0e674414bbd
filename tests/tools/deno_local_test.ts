/** How Deno runs test files in batches, and what it tells of those that fail. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { denoPath, root } from "../../tools/programs.ts";
import { runInDeno } from "../../tools/test/deno.ts";

const skip = denoPath() === undefined ? "this needs Deno" : false;

/** Runs the files, each the text of its tests, and answers `status: name` in the order of names, and what was told of failures. */
async function run(
  files: Readonly<Record<string, string>>,
  silence?: number,
): Promise<{ lines: string[]; details: string }> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache", "deno-tests-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(
        join(folder, `${name}_test.ts`),
        `import { after, before, describe, test } from "node:test";\n${text}\n`,
      );
    }
    const options = {
      files: Object.keys(files).map((name) => join(folder, `${name}_test.ts`)),
      scratch: join(folder, "scratch"),
      shared: folder,
      timeout: 60_000,
      env: {},
    };
    const { outcomes } = await runInDeno(options, silence);
    return {
      lines: outcomes.map(({ name, status }) => `${status}: ${name.replace(/\S*\/(?=\w+_test)/, "")}`).sort(),
      details: outcomes.map(({ detail = "" }) => detail).join("\n"),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("test files in Deno", () => {
  test("share what they load, and each test is told of", { skip }, async () => {
    const more = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`more_${at}`, `test("more ${at}", () => {});`]),
    );
    const { lines } = await run({
      suite:
        `describe("a suite", () => { test("is in it", () => {}); test("is not run", { skip: true }, () => {}); });`,
      hooks: `let ready = false;
before(() => { ready = true; });
test("is ready", () => { if (!ready) throw new Error("not ready"); });`,
      ...more,
    });
    assertEquals(
      lines,
      [
        ...Object.keys(more).map((name) => `passed: ${name.replace("_", " ")}`),
        "passed: a suite > is in it",
        "passed: is ready",
        "skipped: a suite > is not run",
      ].sort(),
    );
  });

  test("that fail hide no other", { skip }, async () => {
    const { lines, details } = await run({
      load: `throw new Error("at load");`,
      syntax: `const = 1;`,
      gone: `import "./nowhere.js";`,
      fails: `test("fails", () => { throw new Error("plain"); }); test("passes", () => {});`,
      good: `test("is good", () => {});`,
    });
    assertEquals(lines, [
      "failed: fails",
      "failed: gone_test.ts as a whole",
      "failed: load_test.ts as a whole",
      "failed: syntax_test.ts as a whole",
      "passed: is good",
      "passed: passes",
    ]);
    for (const reason of ["at load", "nowhere.js", "plain"]) assertStringIncludes(details, reason);
  });

  test("that hang are ended and told by their names", { skip }, async () => {
    const hangs = `test("goes on for a while", async () => {
  for (let at = 0; at < 16; at++) await new Promise((resolve) => setTimeout(() => resolve(console.log(at)), 500));
});
test("hangs here", () => new Promise((resolve) => setTimeout(resolve, 50_000)));`;
    // So long that a machine which stands still for some seconds is not silent for as long.
    const { lines, details } = await run({ hangs }, 7_500);
    assertEquals(lines, ["failed: the run as a whole"]);
    assertStringIncludes(details, "goes on for a while ... ok");
    assertStringIncludes(details, "hangs here ...");
  });

  test("that reject beside their tests have failed", { skip }, async () => {
    const { lines } = await run({
      rejects: `test("rejects beside", async () => {
  void Promise.reject(new Error("beside"));
  await new Promise((resolve) => setTimeout(resolve, 20));
});`,
    });
    assertEquals(lines.some((line) => line.startsWith("failed")), true, lines.join("\n"));
  });
});
