/** The tests in workerd: one bundle, with a shim for `node:test`, run by Miniflare. */
import { existsSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { runProcess } from "../process.ts";
import { packagesInstalled, root, scriptCommand } from "../programs.ts";
import { completeRun, missingRuntime, type RunOptions, type RuntimeRun, type TestOutcome } from "./results.ts";
import { workerBuild } from "../build/worker.ts";

const hosts = join(root, "tests", "hosts");

/** Bundles the files (none of them a `_local_test.ts`) and runs them in a Worker. */
export async function runInWorkerd(options: RunOptions): Promise<RuntimeRun> {
  const script = scriptCommand();
  if (script === undefined || !packagesInstalled()) return missingRuntime("workerd", "miniflare is not installed");
  const bundle = join(options.scratch, "workerd.js");
  const broken: TestOutcome[] = [];
  let files = options.files;
  if (!await bundleTests(files, bundle).then(() => true, () => false)) {
    files = await keepWhatBuilds(files, bundle, broken);
    await bundleTests(files, bundle);
  }
  const report = join(options.scratch, "workerd.jsonl");
  const command = [...script, join(hosts, "workerd_host.ts"), bundle, report, ...files];
  const ended = await runProcess(command, { timeout: options.timeout, env: options.env });
  const outcomes = [...broken, ...readReport(report)];
  const told = new Set(outcomes.map(({ file }) => file));
  for (const file of files) {
    if (told.has(file) || ended.timedOut) continue;
    outcomes.push({ name: "the file as a whole", file, status: "failed", detail: "it reported no test" });
  }
  return completeRun("workerd", outcomes, files, ended);
}

async function bundleTests(files: readonly string[], outfile: string): Promise<void> {
  const { build } = await import("esbuild");
  const shim = join(hosts, "node_test_shim.ts");
  const more = join(hosts, "workerd_exports.ts");
  const contents = [
    `import { env } from "cloudflare:workers";`,
    `import { collect, handleRequest } from ${JSON.stringify(shim)};`,
    `globalThis.CAUSEWAY_BINDINGS = env;`,
    `globalThis.CAUSEWAY_TEST_SERVER = env.CAUSEWAY_TEST_SERVER;`,
    ...files.map((file) =>
      `await collect(${JSON.stringify(file)}, () => import(${JSON.stringify(join(root, file))}));`
    ),
    ...(existsSync(more) ? [`export * from ${JSON.stringify(more)};`] : []),
    // Tests of what is kept in an object run in one.
    `export default { fetch(request, { CAUSEWAY_OBJECT: objects }) {`,
    `  if (!request.url.includes("agent%2Fruns%2F")) return handleRequest(request);`,
    `  return objects.get(objects.idFromName("tests")).fetch(request);`,
    `} };`,
  ].join("\n");
  await build({
    stdin: { contents, resolveDir: root, sourcefile: "workerd_tests.js" },
    ...workerBuild,
    outfile,
    // Packages name Node's modules without "node:", which `nodejs_compat` takes.
    alias: { ...plainNames(), "node:test": shim, "@std/assert": join(root, "tests", "support", "assert.ts") },
    external: ["node:*", "cloudflare:*"],
  });
}

function plainNames(): Record<string, string> {
  return Object.fromEntries(
    builtinModules.filter((name) => /^[a-z]\w*$/.test(name)).map((name) => [name, `node:${name}`]),
  );
}

/** One file that does not build must not take the others with it: it alone is reported. */
async function keepWhatBuilds(files: readonly string[], outfile: string, broken: TestOutcome[]): Promise<string[]> {
  const kept: string[] = [];
  for (const file of files) {
    try {
      await bundleTests([file], outfile);
      kept.push(file);
    } catch (error) {
      broken.push({ name: "the bundle for workerd", file, status: "failed", detail: String(error) });
    }
  }
  return kept;
}

function readReport(file: string): TestOutcome[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "").map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return { name: "the report", status: "failed", detail: `cut off: ${line}` };
    }
  });
}
