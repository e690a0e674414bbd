/**
 * `bun run test`: every test in Bun, Deno, Node and workerd. `--only <runtime>` and `--filter <part of a path>` narrow
 * it; `--timeout <seconds>` says when a runtime is killed and counted as failed (default 1000).
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { runSome } from "./process.ts";
import { root } from "./programs.ts";
import {
  countLine,
  countOutcomes,
  describeAttacks,
  describeRun,
  type RunOptions,
  type RuntimeName,
  type RuntimeRun,
} from "./test/results.ts";
import { runners } from "./test/runners.ts";
import { startTestServer } from "./test/server.ts";

/** Runtimes at a time: they share two cores. The longest begin first. */
const width = 2;

/** Runs the tests and prints failures, a summary per runtime, and `N passed, N failed, N skipped`. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: { only: { type: "string" }, filter: { type: "string" }, timeout: { type: "string", default: "1000" } },
  });
  const timeout = Number(values.timeout) * 1000;
  const names = chooseRuntimes(values.only);
  const files = findTests(values.filter);
  if (names.length === 0 || files.length === 0) {
    console.error(names.length === 0 ? "--only takes bun, deno, node or workerd" : "No test file matches");
    return 2;
  }
  const scratch = join(root, ".cache", `test-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  const server = await startTestServer();
  try {
    const env: Record<string, string> = server === undefined ? {} : { CAUSEWAY_TEST_SERVER: server.url };
    const runs = await runSome(names.map((name) => () => runTests(name, files, { scratch, env, timeout })), width);
    const attacks = values.filter === undefined ? "" : describeAttacks(runs);
    if (attacks) console.log(`\n${attacks}`);
    const total = countOutcomes(runs.flatMap(({ outcomes }) => outcomes));
    console.log(`\n${runs.map(summaryLine).join("\n")}\n${countLine(total)}`);
    return total.failed === 0 ? 0 : 1;
  } finally {
    server?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runTests(
  name: RuntimeName,
  files: readonly string[],
  shared: Pick<RunOptions, "scratch" | "env" | "timeout">,
): Promise<RuntimeRun> {
  const own = name === "workerd" ? files.filter((file) => !file.endsWith("_local_test.ts")) : files;
  if (own.length === 0) return { runtime: name, outcomes: [], milliseconds: 0 };
  const run = await runners[name]({ ...shared, files: own }).catch((error: unknown) => {
    const detail = error instanceof Error ? error.stack ?? error.message : String(error);
    const outcomes = [{ name: "the run as a whole", status: "failed" as const, detail }];
    return { runtime: name, outcomes, milliseconds: 0 };
  });
  console.log(describeRun(run));
  return run;
}

function chooseRuntimes(only: string | undefined): RuntimeName[] {
  const names: RuntimeName[] = ["node", "deno", "bun", "workerd"];
  return only === undefined ? names : names.filter((name) => only.split(",").includes(name));
}

function findTests(filter: string | undefined): string[] {
  return readdirSync(join(root, "tests"), { recursive: true, encoding: "utf8" })
    .map((entry) => `tests/${entry.replaceAll("\\", "/")}`)
    .filter((file) => file.endsWith("_test.ts") && !file.includes("node_modules"))
    .filter((file) => filter === undefined || file.includes(filter))
    .sort();
}

function summaryLine(run: RuntimeRun): string {
  return `${run.runtime.padEnd(8)} ${countLine(countOutcomes(run.outcomes))}`;
}
