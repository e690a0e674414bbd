/** The tests in Bun. */
import { join } from "node:path";
import { runProcess } from "../process.ts";
import { bunPath } from "../programs.ts";
import { readJunit } from "./junit.ts";
import { completeRun, missingRuntime, type RunOptions, type RuntimeRun } from "./results.ts";

/** Runs the files with `bun test`, each test limited to 30 seconds. */
export async function runInBun(options: RunOptions): Promise<RuntimeRun> {
  const bun = bunPath();
  if (bun === undefined) return missingRuntime("bun", "there is no bun on PATH");
  const report = join(options.scratch, "bun.xml");
  const files = options.files.map((file) => `./${file}`);
  const command = [
    bun,
    "test",
    "--only-failures",
    "--timeout",
    "30000",
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...files,
  ];
  const ended = await runProcess(command, { timeout: options.timeout, env: options.env });
  return completeRun("bun", readJunit(report), options.files, ended);
}
