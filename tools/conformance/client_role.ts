/** The client's part of `bun run conformance`: our client in every runtime, at each revision. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { listScenarios, runScenario, type Verdict } from "../conformance_strict.ts";
import { runSome } from "../process.ts";
import { bundle } from "./bundle.ts";
import { chooseVersions, count, type Outcome, printVerdict, programOf, type Runtime, runtimes } from "./outcome.ts";
import type { Selection } from "./outcome.ts";

const client = "tests/conformance/client.ts";
const worker = "tests/conformance/worker.ts";
/** What stands for the scenarios of extensions: they run at the revision that the suite takes for them. */
const beyond = "extensions";
const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", beyond];
/** Scenarios at a time: each waits about half of its time. */
const width = 4;

/** Runs the matrix of runtimes and revisions, a line per scenario. */
export async function runClientRole(selection: Selection): Promise<Outcome> {
  const rows: string[] = [];
  const verdicts: Verdict[] = [];
  let skipped = 0;
  for (const version of chooseVersions(versions, selection)) {
    const scenarios = (await listScenarios(version === beyond ? undefined : version)).filter((name) =>
      name.includes(selection.only)
    );
    for (const runtime of selection.runtimes ?? runtimes) {
      if (programOf(runtime) === undefined) {
        skipped += scenarios.length;
        rows.push(`${version.padEnd(10)}  ${runtime.padEnd(8)} skipped: ${runtime} was not found`);
        continue;
      }
      const run = await runMatrix({ runtime, version, scenarios, scratch: selection.scratch });
      verdicts.push(...run);
      rows.push(`${version.padEnd(10)}  ${runtime.padEnd(8)} ${count(run, true)} of ${run.length}`);
    }
  }
  const table = ["client", "revision    runtime  passed (strict)", ...rows];
  return { passed: count(verdicts, true), failed: count(verdicts, false), skipped, table };
}

async function runMatrix(
  { runtime, version, scenarios, scratch }: { runtime: Runtime; version: string; scenarios: string[]; scratch: string },
): Promise<Verdict[]> {
  const command = await clientCommand(runtime, scratch);
  const tasks = scenarios.map((scenario) => async () => {
    const folder = join(scratch, `${runtime}-${version}-${scenario.replaceAll("/", "-")}`);
    const verdict = await runScenario({
      scenario,
      version: version === beyond ? undefined : version,
      command,
      scratch: folder,
    });
    printVerdict(verdict, version, runtime);
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
  if (!existsSync(outfile)) await bundle({ entry: runtime === "node" ? client : worker, outfile, platform: runtime });
  if (runtime === "node") return `${program} ${JSON.stringify(outfile)}`;
  return `${program} tests/hosts/conformance_worker.ts ${JSON.stringify(outfile)}`;
}
