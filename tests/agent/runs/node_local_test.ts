/** The tests of runs in a Node that has SQLite, where the one that runs the tests has none; and of what else only a newer one has. */
import { assert, assertEquals } from "@std/assert";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { newerNodePath } from "../../../tools/test/newer_node.ts";
import { runInNode, sharedFolder } from "../../../tools/test/node.ts";
import { root } from "../../../tools/programs.ts";

const isOld = !("Bun" in globalThis) && !("Deno" in globalThis) &&
  process.getBuiltinModule?.("node:sqlite") === undefined;
const skip = isOld ? false : "this runtime runs them itself";

describe("runs in a newer Node", () => {
  test("all tests of runs, of files and of fetch pass", { skip, timeout: 190_000 }, async () => {
    const node = await newerNodePath();
    assert(node, "no Node from 22.13 on was found, and none could be fetched");
    const here = join(root, "tests", "agent", "runs");
    const files = [here, join(here, "races")].flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
      .filter((file) => file.endsWith("_test.ts") && !file.includes("local"));
    const more = [
      join(root, "tests", "runtime", "sql", "file_database_local_test.ts"),
      join(here, "sealed_local_test.ts"),
      join(root, "tests", "runtime", "node_fetch_local_test.ts"),
    ];
    const shared = sharedFolder();
    assert(shared, `the loader of the tests is given to Node: ${process.execArgv.join(" ")}`);
    const scratch = mkdtempSync(join(tmpdir(), "causeway-newer-node-"));
    try {
      const { outcomes } = await runInNode(
        { files: [...files, ...more], scratch, shared, timeout: 180_000, env: {} },
        node,
      );
      const failed = outcomes.filter(({ status }) => status === "failed");
      assertEquals(failed, [], failed.map(({ name, detail }) => `${name}: ${detail}`).join("\n"));
      const passed = outcomes.filter(({ status }) => status === "passed").length;
      assert(passed >= 100, `${passed} tests passed`);
    } finally {
      rmSync(scratch, { recursive: true });
    }
  });
});
