/** The tests in Deno. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { runProcess } from "../process.ts";
import { denoPath, packagesInstalled, root } from "../programs.ts";
import { readJunit } from "./junit.ts";
import { neededPackage } from "./packages.ts";
import { completeRun, missingRuntime, type RunOptions, type RuntimeRun, type TestOutcome } from "./results.ts";

/** Deno has no limit for a test, and tells each as it ends: so long after the last one, the next one hangs. */
const longestTest = 180_000;

/** Runs the files with `deno test`. Types are checked elsewhere, by `bun run check`. */
export async function runInDeno(options: RunOptions, silence: number = longestTest): Promise<RuntimeRun> {
  const deno = denoPath();
  if (deno === undefined) return missingRuntime("deno", "its package is not installed and there is no deno on PATH");
  const { files, skipped } = chooseFiles(options.files);
  const report = join(options.scratch, "deno.xml");
  const command = [deno, "test", "-A", "--no-check", `--junit-path=${report}`, ...writeModules(files, options.scratch)];
  const env = { ...options.env, ...await cacheEnvironment(deno) };
  const ended = await runProcess(command, { timeout: options.timeout, silence, env });
  // What broke outside of a test is in no report: of the output only the part that tells it is worth showing.
  const errorsAt = ended.output.indexOf("\n ERRORS");
  const output = errorsAt < 0 ? ended.output : ended.output.slice(errorsAt);
  return completeRun("deno", [...skipped, ...onlyLeaves(readJunit(report))], files, { ...ended, output });
}

/**
 * What Deno is given in place of the files: one module that imports them, since for each that it is given it loads all
 * anew. A file that cannot be loaded is a test that fails; one with hooks for all that is in its module stays alone.
 */
function writeModules(files: readonly string[], folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const alone = files.filter((file) => /^(before|after)(Each)?\(/m.test(readFileSync(resolve(root, file), "utf8")));
  const shared = files.filter((file) => !alone.includes(file));
  const lines = shared.map((file) => {
    const url = JSON.stringify(pathToFileURL(resolve(root, file)).href);
    const name = JSON.stringify(`${file} as a whole`);
    return `await import(${url}).catch((error: unknown) => Deno.test(${name}, () => Promise.reject(error)));\n`;
  });
  const path = join(folder, "all_test.ts");
  writeFileSync(path, lines.join(""));
  return shared.length ? [...alone, path] : alone;
}

/** Where Deno keeps what it has compiled: tests that begin it with another home would have it compile all again. */
async function cacheEnvironment(deno: string): Promise<Record<string, string>> {
  const { code, standardOutput } = await runProcess([deno, "info", "--json"]);
  const { denoDir }: { denoDir?: string } = code === 0 ? JSON.parse(standardOutput) : {};
  return denoDir === undefined ? {} : { DENO_DIR: denoDir };
}

/** Without packages, one file that imports one would keep Deno from running any. */
function chooseFiles(all: readonly string[]): { files: string[]; skipped: TestOutcome[] } {
  const files: string[] = [];
  const skipped: TestOutcome[] = [];
  const installed = packagesInstalled();
  for (const file of all) {
    const needed = installed ? undefined : neededPackage(file);
    if (needed === undefined) files.push(file);
    else skipped.push({ name: "all its tests", file, status: "skipped", detail: `"${needed}" is not installed` });
  }
  return { files, skipped };
}

/**
 * Deno reports a suite as a test too, and each test in it as a step. Only the leaves count, as in the other runtimes;
 * a suite counts when it failed by itself.
 */
function onlyLeaves(outcomes: readonly TestOutcome[]): TestOutcome[] {
  const parents = new Set<string>();
  for (const { name } of outcomes) {
    for (let at = name.indexOf(" > "); at >= 0; at = name.indexOf(" > ", at + 1)) parents.add(name.slice(0, at));
  }
  const files = new Map(outcomes.map(({ name, file }) => [name, file]));
  return outcomes
    .filter(({ name, status, detail = "" }) =>
      !parents.has(name) || (status === "failed" && !/^\d+ test steps? failed\.?$/.test(detail.trim()))
    )
    .map((outcome) => ({ ...outcome, file: outcome.file ?? files.get(outcome.name.split(" > ")[0] ?? "") }));
}
