/** The tests in Node: types and `using` are lowered first, since Node 20 understands neither. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runProcess, runSome } from "../process.ts";
import { nodePath, packagesInstalled, root } from "../programs.ts";
import { completeRun, missingRuntime, type RunOptions, type RuntimeRun, type TestOutcome } from "./results.ts";

const compiledFolders = ["src", "tests", "tools", "examples", "bench", "workers"];

/** Compiles the sources, then runs the files with `node --test`, each file, and so each test, limited to 90 seconds. */
export async function runInNode(options: RunOptions): Promise<RuntimeRun> {
  const node = nodePath();
  if (node === undefined) return missingRuntime("node", "there is no node on PATH");
  if (!packagesInstalled()) return missingRuntime("node", "esbuild, which lowers the sources, is not installed");
  const compiled = join(options.scratch, "node");
  await compileSources(compiled);
  const report = join(options.scratch, "node.jsonl");
  const reporter = new URL("node_reporter.mjs", import.meta.url).href;
  const command = [
    node,
    "--enable-source-maps",
    `--import=${loaderUrl(compiled)}`,
    "--test",
    "--test-timeout=90000",
    "--test-concurrency=3",
    `--test-reporter=${reporter}`,
    `--test-reporter-destination=${report}`,
    ...options.files,
  ];
  const ended = await runProcess(command, { timeout: options.timeout, env: options.env });
  return completeRun("node", readReport(report), options.files, ended);
}

/** The address for `node --import`, with which Node runs the sources that were compiled into `folder`. */
export function loaderUrl(folder: string): string {
  const loader = new URL("node_loader.mjs", import.meta.url);
  loader.searchParams.set("compiled", pathToFileURL(`${folder}/`).href);
  return loader.href;
}

/** Compiles every source to what Node 20 runs, into the same tree below `folder`; a broken file fails when it is loaded. */
export async function compileSources(folder: string): Promise<void> {
  const { transform } = await import("esbuild");
  const files = ["mod.ts"].filter((file) => existsSync(join(root, file)));
  for (const base of compiledFolders) {
    if (!existsSync(join(root, base))) continue;
    for (const entry of await readdir(join(root, base), { recursive: true })) {
      if (entry.endsWith(".ts") && !entry.includes("node_modules")) files.push(join(base, entry));
    }
  }
  const tasks = files.map((file) => async () => {
    const source = await readFile(join(root, file), "utf8");
    const compiled = await transform(source, {
      loader: "ts",
      format: "esm",
      target: "node20",
      sourcemap: "inline",
      sourcesContent: false,
      sourcefile: pathToFileURL(join(root, file)).href,
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      logLevel: "silent",
    }).then(({ code }) => code, (error: unknown) => `throw new SyntaxError(${JSON.stringify(String(error))});\n`);
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), compiled);
  });
  await runSome(tasks, 8);
}

function readReport(file: string): TestOutcome[] {
  if (!existsSync(file)) return [];
  const outcomes: TestOutcome[] = [];
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line === "") continue;
    const outcome: TestOutcome = JSON.parse(line);
    const path = outcome.file?.startsWith("file:") ? fileURLToPath(outcome.file) : outcome.file;
    outcomes.push({ ...outcome, file: path === undefined ? undefined : relative(root, path) });
  }
  return outcomes;
}
