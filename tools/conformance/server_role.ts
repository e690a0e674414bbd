/** The server's part of `bun run conformance`: `tests/conformance/server.ts`, asked by every scenario of each revision. */
import { join } from "node:path";
import { listScenarios, runServerScenario, type Verdict } from "../conformance_strict.ts";
import { chooseVersions, count, type Outcome, printVerdict, programOf, type Runtime } from "./outcome.ts";
import type { Selection } from "./outcome.ts";
import { startServer } from "./server_process.ts";

const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** Not ours yet: the extensions for tasks (SEP-2663) and for skills (SEP-2640). They belong to no revision. */
const gaps = /^(tasks-|sep-2640-)/;

/** What is said of a scenario when there was nobody to ask. */
const unasked: Omit<Verdict, "scenario"> = {
  passed: false,
  succeeded: 0,
  decided: 0,
  milliseconds: 0,
  reasons: ["the server did not start"],
  output: "",
};

/** A cell of the table. */
type Cell = "passed" | "FAILED" | "skipped";
/** By scenario and revision. */
type Cells = Map<string, Map<string, Cell>>;

/** Asks a server in each chosen runtime (Bun, when none was chosen), a fresh one for each revision. */
export async function runServerRole(selection: Selection): Promise<Outcome> {
  const table: string[] = [];
  const verdicts: Verdict[] = [];
  let skipped = 0;
  for (const runtime of selection.runtimes ?? ["bun"]) {
    const cells: Cells = new Map();
    for (const version of chooseVersions(versions, selection)) {
      const scenarios = (await listScenarios(version, "server")).filter((name) => name.includes(selection.only));
      if (scenarios.length === 0) continue;
      const run = programOf(runtime) === undefined ? [] : await ask(runtime, version, scenarios, selection.scratch);
      verdicts.push(...run);
      skipped += scenarios.length - run.length;
      scenarios.forEach((scenario, index) => {
        const verdict = run[index];
        const cell = verdict === undefined ? "skipped" : verdict.passed ? "passed" : "FAILED";
        cells.set(scenario, (cells.get(scenario) ?? new Map()).set(version, cell));
      });
    }
    table.push(...drawTable(runtime, cells));
  }
  const left = selection.version === undefined ? await listGaps(selection.only) : [];
  for (const name of left) table.push(`${name.padEnd(46)} skipped: an extension that is not ours yet`);
  return { passed: count(verdicts, true), failed: count(verdicts, false), skipped: skipped + left.length, table };
}

/** One scenario after the other: some of them change the server's lists. */
async function ask(runtime: Runtime, version: string, scenarios: string[], scratch: string): Promise<Verdict[]> {
  const server = await startServer(runtime, scratch).catch((error: Error) => error);
  if (server instanceof Error) {
    console.error(server.message);
    return scenarios.map((scenario) => ({ ...unasked, scenario }));
  }
  const verdicts: Verdict[] = [];
  try {
    for (const scenario of scenarios) {
      const folder = join(scratch, `server-${runtime}-${version}-${scenario}`);
      const asked = await runServerScenario({ scenario, version, url: server.url, scratch: folder });
      const died = server.ended() ? ["the server ended"] : [];
      const written = `${asked.output}\n${server.takeOutput()}`.trim();
      const reasons = [...asked.reasons, ...died];
      const verdict = { ...asked, passed: reasons.length === 0, reasons, output: written };
      printVerdict(verdict, version, runtime);
      verdicts.push(verdict);
    }
  } finally {
    server.stop();
  }
  return verdicts;
}

/** The extensions' scenarios; one that is neither ours nor a known gap must not go unnoticed. */
async function listGaps(only: string): Promise<string[]> {
  const names = await listScenarios(undefined, "server");
  const unknown = names.filter((name) => !gaps.test(name));
  if (unknown.length > 0) throw new Error(`The suite has new extension scenarios: ${unknown.join(", ")}`);
  return names.filter((name) => name.includes(only));
}

function drawTable(runtime: Runtime, cells: Cells): string[] {
  const used = versions.filter((version) => [...cells.values()].some((row) => row.has(version)));
  const line = (name: string, values: readonly string[]) =>
    `${name.padEnd(46)} ${values.map((value) => value.padEnd(11)).join("")}`.trimEnd();
  const rows = [...cells].map(([name, row]) => line(name, used.map((version) => row.get(version) ?? "-")));
  const sums = used.map((version) => {
    const column = [...cells.values()].flatMap((row) => row.get(version) ?? []);
    return `${column.filter((cell) => cell === "passed").length}/${column.length}`;
  });
  return [line(`server, ${runtime}`, used), ...rows, line("passed (strict)", sums)];
}
