/**
 * `bun run conformance`: our client in every runtime against the official suite, strictly judged, at each revision that
 * the suite speaks. `--runtime bun|deno|node|workerd`, `--version <revision>` and `--only <part of a name>` narrow it.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { listScenarios, runScenario, type Verdict } from "./conformance_strict.ts";
import { runSome } from "./process.ts";
import { bunPath, denoPath, nodePath, root } from "./programs.ts";

const client = "tests/conformance/client.ts";
const worker = "tests/conformance/worker.ts";
const versions = ["2025-06-18", "2025-11-25", "2026-07-28"];
const runtimes = ["bun", "deno", "node", "workerd"] as const;
/** Not ours yet: authorization, and skills, which no client of ours offers. */
const excluded = /^(auth\/|sep-2640-)/;
/** Scenarios at a time. */
const width = 2;

type Runtime = typeof runtimes[number];

/** Runs the matrix, prints a line per scenario and a table, and answers 1 when a scenario failed. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: { only: { type: "string", default: "" }, runtime: { type: "string" }, version: { type: "string" } },
  });
  if (!existsSync(join(root, client))) {
    console.error(`There is no ${client}`);
    return 2;
  }
  const chosen: readonly Runtime[] = values.runtime === undefined
    ? runtimes
    : runtimes.filter((name) => values.runtime?.split(",").includes(name));
  const revisions = versions.filter((version) => values.version === undefined || version === values.version);
  const scratch = join(root, ".cache", `conformance-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  try {
    const rows: string[] = [];
    const verdicts: Verdict[] = [];
    let skipped = 0;
    for (const version of revisions) {
      const scenarios = (await listScenarios(version)).filter((name) =>
        !excluded.test(name) && name.includes(values.only)
      );
      for (const runtime of chosen) {
        if (programOf(runtime) === undefined) {
          skipped += scenarios.length;
          rows.push(`${version}  ${runtime.padEnd(8)} skipped: ${runtime} was not found`);
          continue;
        }
        const run = await runMatrix({ runtime, version, scenarios, scratch });
        verdicts.push(...run);
        rows.push(`${version}  ${runtime.padEnd(8)} ${count(run, true)} of ${run.length}`);
      }
    }
    console.log(`\nrevision    runtime  passed (strict)\n${rows.join("\n")}`);
    console.log(`${count(verdicts, true)} passed, ${count(verdicts, false)} failed, ${skipped} skipped`);
    return verdicts.length > 0 && count(verdicts, false) === 0 ? 0 : 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runMatrix(
  { runtime, version, scenarios, scratch }: { runtime: Runtime; version: string; scenarios: string[]; scratch: string },
): Promise<Verdict[]> {
  const command = await clientCommand(runtime, scratch);
  const tasks = scenarios.map((scenario) => async () => {
    const folder = join(scratch, `${runtime}-${version}-${scenario.replaceAll("/", "-")}`);
    const verdict = await runScenario({ scenario, version, command, scratch: folder });
    const { passed, succeeded, decided, milliseconds, reasons } = verdict;
    const cells = [passed ? "PASS" : "FAIL", version, runtime.padEnd(8), scenario.padEnd(38)];
    console.log(
      `${cells.join(" ")} checks ${succeeded}/${decided} ${Math.round(milliseconds)} ms ${reasons.join("; ")}`,
    );
    if (!passed) console.log(verdict.output.split("\n").map((line) => `    ${line}`).join("\n"));
    return verdict;
  });
  return await runSome(tasks, width);
}

/** The shell command that starts the client in a runtime; for Node and workerd the client is bundled first. */
async function clientCommand(runtime: Runtime, scratch: string): Promise<string> {
  const program = JSON.stringify(programOf(runtime));
  if (runtime === "bun") return `${program} ${client}`;
  if (runtime === "deno") return `${program} run -A --no-check --quiet ${client}`;
  const outfile = join(scratch, `client_${runtime}.mjs`);
  if (!existsSync(outfile)) await bundleClient(runtime, outfile);
  if (runtime === "node") return `${program} ${JSON.stringify(outfile)}`;
  return `${program} tests/hosts/conformance_worker.ts ${JSON.stringify(outfile)}`;
}

/** The program that the runtime's client is started with; undefined when it is not installed. Bun is workerd's host. */
function programOf(runtime: Runtime): string | undefined {
  return { bun: bunPath, deno: denoPath, node: nodePath, workerd: bunPath }[runtime]();
}

async function bundleClient(runtime: "node" | "workerd", outfile: string): Promise<void> {
  const { build } = await import("esbuild");
  const shared = { outfile, bundle: true, format: "esm", absWorkingDir: root, logLevel: "silent" } as const;
  if (runtime === "node") {
    const entryPoints = [join(root, client)];
    await build({ ...shared, entryPoints, platform: "node", target: "node20", packages: "external" });
    return;
  }
  await build({
    ...shared,
    entryPoints: [join(root, worker)],
    platform: "neutral",
    target: "esnext",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser", "import"],
    external: ["node:*", "cloudflare:*"],
  });
}

function count(verdicts: readonly Verdict[], passed: boolean): number {
  return verdicts.filter((verdict) => verdict.passed === passed).length;
}
