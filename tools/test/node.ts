/** The tests in Node: types and `using` are lowered first, since Node 20 understands neither. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runProcess, runSome } from "../process.ts";
import { nodePath, packagesInstalled, root } from "../programs.ts";
import { completeRun, missingRuntime, type RunOptions, type RuntimeRun, type TestOutcome } from "./results.ts";

const compiledFolders = ["src", "tests", "tools", "examples", "bench", "workers"];

/** Compiles the sources into the folder that the parts share. */
export async function prepareNode(shared: string): Promise<void> {
  if (packagesInstalled()) await compileSources(join(shared, "node"));
}

/**
 * Runs the files one after the other in one process, each test limited to 90 seconds. Where a file ends the process,
 * it has failed, and another process runs those that are left.
 *
 * @param node The Node to run them in: the one on PATH, unless told otherwise.
 */
export async function runInNode(options: RunOptions, node: string | undefined = nodePath()): Promise<RuntimeRun> {
  if (node === undefined) return missingRuntime("node", "there is no node on PATH");
  if (!packagesInstalled()) return missingRuntime("node", "esbuild, which lowers the sources, is not installed");
  const beganAt = performance.now();
  const outcomes: TestOutcome[] = [];
  for (let left = options.files, round = 0;; round++) {
    const report = join(options.scratch, `node_${round}.jsonl`);
    const command = [
      node,
      "--enable-source-maps",
      `--import=${loaderUrl(join(options.shared, "node"))}`,
      join(root, "tools", "test", "node", "program.mjs"),
      report,
      ...left,
    ];
    const timeout = Math.max(options.timeout - (performance.now() - beganAt), 1);
    const ended = await runProcess(command, { timeout, env: options.env });
    const milliseconds = performance.now() - beganAt;
    const told = readReport(report);
    outcomes.push(...told.outcomes);
    const broke = left.findIndex((file) => !told.ended.has(file));
    if (broke < 0 || ended.timedOut) return completeRun("node", outcomes, options.files, { ...ended, milliseconds });
    const tail = ended.output.trim().split("\n").slice(-40).join("\n");
    const detail = `its process ended with exit code ${ended.code} before its tests did; it last wrote:\n${tail}`;
    outcomes.push({ name: "the file as a whole", file: left[broke], status: "failed", detail });
    left = left.slice(broke + 1);
    if (left.length === 0) return completeRun("node", outcomes, options.files, { ...ended, milliseconds });
  }
}

/** What `prepareNode` was given for the Node that runs this; undefined where it is none of ours. */
export function sharedFolder(): string | undefined {
  const loader = process.execArgv.find((option) => option.startsWith("--import="));
  const compiled = loader && new URL(loader.slice("--import=".length)).searchParams.get("compiled");
  return compiled ? fileURLToPath(new URL("..", compiled)) : undefined;
}

/** The address for `node --import`, with which Node runs the sources that were compiled into `folder`. */
export function loaderUrl(folder: string): string {
  const loader = new URL("node/loader.mjs", import.meta.url);
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

/** The outcomes, and the files whose tests have all ended. */
function readReport(file: string): { outcomes: TestOutcome[]; ended: ReadonlySet<string> } {
  const outcomes: TestOutcome[] = [];
  const ended = new Set<string>();
  for (const line of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    if (line === "") continue;
    const told: TestOutcome | { readonly ended: string } = JSON.parse(line);
    if ("ended" in told) ended.add(told.ended);
    else outcomes.push(told);
  }
  return { outcomes, ended };
}
