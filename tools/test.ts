/**
 * `bun run test`: every test in Bun, Deno, Node and workerd. `--only <runtime>` and `--filter <part of a path>` narrow
 * it; `--timeout <seconds>` says when a runtime is killed and counted as failed (default 1000); `--slowest <count>` shows
 * that many files of each runtime, those that took longest; `--newest-node` takes the newest Node in the place of the one on PATH.
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { runSome } from "./process.ts";
import { root } from "./programs.ts";
import { newestNodePath } from "./test/newer_node.ts";
import {
  countLine,
  countOutcomes,
  describeAttacks,
  describeRun,
  describeSlowest,
  type RunOptions,
  type RuntimeName,
  type RuntimeRun,
  type TestOutcome,
} from "./test/results.ts";
import { runners } from "./test/runners.ts";
import { startTestServer } from "./test/server.ts";

/** Processes at a time: most tests wait more than they compute, so that two cores bear four. Those of the last runtime are short. */
const width = 4;
/** In how many processes a runtime runs its files, where there are many. */
const parts: Readonly<Record<RuntimeName, number>> = { node: 4, bun: 6, workerd: 1, deno: 8 };
/** Fewer files are not worth a process. */
const leastFiles = 40;

/** Runs the tests and prints failures, a summary per runtime, and `N passed, N failed, N skipped`. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      only: { type: "string" },
      filter: { type: "string" },
      timeout: { type: "string", default: "1000" },
      slowest: { type: "string", default: "0" },
      "newest-node": { type: "boolean", default: false },
    },
  });
  const timeout = Number(values.timeout) * 1000;
  const slowest = Number(values.slowest);
  const names = chooseRuntimes(values.only);
  const files = findTests(values.filter);
  if (names.length === 0 || files.length === 0) {
    console.error(names.length === 0 ? "--only takes bun, deno, node or workerd" : "No test file matches");
    return 2;
  }
  if (values["newest-node"]) await preferNewestNode();
  const scratch = join(root, ".cache", `test-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  const server = await startTestServer();
  try {
    const env: Record<string, string> = server === undefined ? {} : { CAUSEWAY_TEST_SERVER: server.url };
    const tasks = names.flatMap((name) => createRun(name, files, { shared: scratch, env, timeout }));
    const runs = (await runSome(tasks, width)).filter((run) => run !== undefined);
    const attacks = values.filter === undefined ? "" : describeAttacks(runs);
    if (attacks) console.log(`\n${attacks}`);
    if (slowest > 0) console.log(`\n${runs.map((run) => describeSlowest(run, slowest)).join("\n")}`);
    const total = countOutcomes(runs.flatMap(({ outcomes }) => outcomes));
    console.log(`\n${runs.map(summaryLine).join("\n")}\n${countLine(total)}`);
    return total.failed === 0 ? 0 : 1;
  } finally {
    server?.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The parts of a runtime's run: the one that ends last tells of all, and gives it. */
function createRun(
  name: RuntimeName,
  files: readonly string[],
  options: Pick<RunOptions, "shared" | "env" | "timeout">,
): (() => Promise<RuntimeRun | undefined>)[] {
  const own = name === "workerd" ? files.filter((file) => !file.endsWith("_local_test.ts")) : files;
  const count = Math.min(parts[name], Math.ceil(own.length / leastFiles));
  const outcomes: TestOutcome[][] = [];
  let beganAt: number | undefined;
  let prepared: Promise<void> | undefined;
  let left = count;
  return Array.from({ length: count }, (_, at) => async () => {
    beganAt ??= performance.now();
    const scratch = join(options.shared, `${name}_${at}`);
    mkdirSync(scratch, { recursive: true });
    // Slow files stand side by side: each part gets some of them.
    const part = own.filter((_, index) => index % count === at);
    prepared ??= runners[name].prepare?.(options.shared) ?? Promise.resolve();
    outcomes[at] = await runPart(name, prepared, { ...options, scratch, files: part });
    if (--left) return undefined;
    const run = { runtime: name, outcomes: outcomes.flat().filter(isNew), milliseconds: performance.now() - beganAt };
    console.log(describeRun(run));
    return run;
  });
}

/** A runtime that is missing is told of once. */
function isNew({ name, status, file }: TestOutcome, at: number, all: readonly TestOutcome[]): boolean {
  return status !== "skipped" || file !== undefined || all.findIndex((other) => other.name === name) === at;
}

async function runPart(name: RuntimeName, prepared: Promise<void>, options: RunOptions): Promise<TestOutcome[]> {
  try {
    await prepared;
    return [...(await runners[name].run(options)).outcomes];
  } catch (error) {
    const detail = error instanceof Error ? error.stack ?? error.message : String(error);
    return [{ name: "the run as a whole", status: "failed", detail }];
  }
}

/** Puts it first on the PATH, for what the tests start too. */
async function preferNewestNode(): Promise<void> {
  const node = await newestNodePath();
  if (node === undefined) throw new Error("The newest Node could not be fetched");
  process.env["PATH"] = [dirname(node), process.env["PATH"] ?? ""].join(delimiter);
}

function chooseRuntimes(only: string | undefined): RuntimeName[] {
  const names: RuntimeName[] = ["node", "bun", "workerd", "deno"];
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
