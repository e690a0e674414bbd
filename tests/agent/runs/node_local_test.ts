/** The tests of runs in a Node that has SQLite, where the one that runs the tests has none. */
import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, test } from "node:test";
import { newerNodePath } from "../../../tools/test/newer_node.ts";
import { runProcess } from "../../../tools/process.ts";
import { root } from "../../../tools/programs.ts";

const isOld = !("Bun" in globalThis) && !("Deno" in globalThis) &&
  process.getBuiltinModule?.("node:sqlite") === undefined;
const skip = isOld ? false : "this runtime runs them itself";

describe("runs in a newer Node", () => {
  test("all tests of runs and of files pass", { skip, timeout: 190_000 }, async () => {
    const node = await newerNodePath();
    assert(node, "no Node from 22.13 on was found, and none could be fetched");
    const here = join(root, "tests", "agent", "runs");
    const files = [here, join(here, "races")].flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
      .filter((file) => file.endsWith("_test.ts") && !file.includes("local"));
    const more = [
      join(root, "tests", "runtime", "sql", "file_database_local_test.ts"),
      join(here, "sealed_local_test.ts"),
    ];
    const loader = process.execArgv.find((parameter) => parameter.startsWith("--import="));
    assert(loader, `the loader of the tests is given to Node: ${process.execArgv.join(" ")}`);
    // A process that knows of being a test's runs no tests of its own.
    delete process.env["NODE_TEST_CONTEXT"];
    const { code, output } = await runProcess(
      [
        node,
        loader,
        "--no-warnings",
        "--test",
        "--test-reporter=tap",
        ...files,
        ...more,
      ],
      { timeout: 180_000 },
    );
    assertEquals(code, 0, output.slice(-4_000));
    const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1]);
    assert(passed >= 30, `${passed} tests passed: ${output.slice(-2_000)}`);
  });
});
