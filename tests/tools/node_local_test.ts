/** How Node runs many test files in one process, and what it tells of those that fail. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runInNode, sharedFolder } from "../../tools/test/node.ts";

const tests = new URL("../hosts/node_test_shim.ts", import.meta.url).href;
const shared = sharedFolder() ?? "";
const skip = shared === "" ? "Node runs them itself" : false;

/** Runs the files, each the text of its tests, and answers `status file: name` and the reasons of failures. */
async function run(files: Readonly<Record<string, string>>): Promise<{ lines: string[]; details: string }> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-node-tests-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      const head = `import { after, before, describe, test } from ${JSON.stringify(tests)};\n`;
      writeFileSync(join(folder, `${name}.mjs`), head + text);
    }
    mkdirSync(join(folder, "scratch"));
    const { outcomes } = await runInNode({
      files: Object.keys(files).map((name) => join(folder, `${name}.mjs`)),
      scratch: join(folder, "scratch"),
      shared,
      timeout: 60_000,
      env: {},
    });
    const lines = outcomes.map(({ name, file = "", status }) => {
      return `${status} ${file.slice(folder.length + 1).replace(".mjs", "")}: ${name}`;
    });
    return { lines, details: outcomes.map(({ detail = "" }) => detail).join("\n") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("test files that share a process of Node", () => {
  test("run one after the other, with hooks of their own", { skip }, async () => {
    const { lines, details } = await run({
      one: `let ready = false;
        before(() => { ready = true; });
        after(() => { globalThis.left = true; });
        describe("a suite", () => { test("is ready", () => { if (!ready) throw new Error("not ready"); }); });
        test("is not run", { skip: "no disk" }, () => {});`,
      two: `if (!globalThis.left) throw new Error("the other file has not ended");
        test("comes later", async () => { await new Promise((resolve) => setTimeout(resolve, 5)); });`,
    });
    assertEquals(lines, ["passed one: a suite > is ready", "skipped one: is not run", "passed two: comes later"]);
    assertStringIncludes(details, "no disk");
  });

  test("that fail are told of by file, and hide no other", { skip }, async () => {
    const { lines, details } = await run({
      load: `throw new Error("at load");`,
      none: `export const nothing = 1;`,
      hook: `before(() => { throw new Error("in the hook"); }); test("is not reached", () => {});`,
      fails: `test("fails", () => { throw new Error("plain"); }); test("passes", () => {});`,
      hangs: `test("hangs", { timeout: 50 }, () => new Promise(() => {}));`,
      rejects: `test("rejects beside", async () => {
        void Promise.reject(new Error("beside"));
        await new Promise((resolve) => setTimeout(resolve, 5));
      });`,
      late: `test("ends too soon", () => { setTimeout(() => { throw new Error("late"); }, 5); });
        test("runs when the other throws", async () => { await new Promise((resolve) => setTimeout(resolve, 50)); });`,
      good: `test("is good", () => {});`,
    });
    assertEquals(lines, [
      "failed load: the module loads",
      "failed none: the file as a whole",
      "failed hook: the hooks of the file",
      "failed fails: fails",
      "passed fails: passes",
      "failed hangs: hangs",
      "failed rejects: beside its tests",
      "passed rejects: rejects beside",
      "passed late: ends too soon",
      "failed late: beside its tests",
      "passed late: runs when the other throws",
      "passed good: is good",
    ]);
    for (const reason of ["at load", "no test", "in the hook", "plain", "within 50 ms", "beside", "late"]) {
      assertStringIncludes(details, reason);
    }
  });

  test("that end the process have failed, and those that are left run in another one", { skip }, async () => {
    const { lines, details } = await run({
      first: `test("is first", () => {});`,
      exits:
        `test("exits", () => { console.error("a last word"); process.exit(0); }); test("is not reached", () => {});`,
      last: `test("is last", () => {});`,
    });
    assertEquals(lines, ["passed first: is first", "failed exits: the file as a whole", "passed last: is last"]);
    assertStringIncludes(details, "exit code 0");
    assertStringIncludes(details, "a last word");
  });
});
