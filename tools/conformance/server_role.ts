/** The server's part of `bun run conformance`: `tests/conformance/server.ts`, asked by every scenario of each revision. */
import { join } from "node:path";
import { listScenarios, runServerScenario, type Verdict } from "../conformance_strict.ts";
import { runSome } from "../process.ts";
import { chooseVersions, count, type Outcome, printVerdict, programOf, type Runtime } from "./outcome.ts";
import type { Selection } from "./outcome.ts";
import { startServer } from "./server_process.ts";

const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** Stands for the scenarios of extensions: they belong to no revision. */
const beyond = "extensions";
const ours = /^(tasks|sep-2640)-/;
/** A scenario in which the suite skips every check. */
const gaps = /^tasks-status-notifications$/;

/** Revisions at a time. */
const width = 2;

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

/** Where the server runs, when no runtime was chosen: the house's own, and the one of Workers. */
const usual: readonly Runtime[] = ["bun", "workerd"];

/** Asks a server in each chosen runtime, a fresh one for each revision. */
export async function runServerRole(selection: Selection): Promise<Outcome> {
  const table: string[] = [];
  const verdicts: Verdict[] = [];
  let skipped = 0;
  const extensions = selection.version === undefined ? await listExtensions(selection.only) : { ours: [], gaps: [] };
  const columns = [...chooseVersions(versions, selection), ...(extensions.ours.length > 0 ? [beyond] : [])];
  for (const runtime of selection.runtimes ?? usual) {
    const cells: Cells = new Map();
    const tasks = columns.map((version) => async () => {
      const listed = version === beyond ? extensions.ours : await listScenarios(version, "server");
      const scenarios = listed.filter((name) => name.includes(selection.only));
      const isAble = programOf(runtime) !== undefined && scenarios.length > 0;
      return { version, scenarios, run: isAble ? await ask(runtime, version, scenarios, selection.scratch) : [] };
    });
    for (const { version, scenarios, run } of await runSome(tasks, width)) {
      verdicts.push(...run);
      skipped += scenarios.length - run.length;
      scenarios.forEach((scenario, index) => {
        const verdict = run[index];
        const cell = verdict === undefined ? "skipped" : verdict.passed ? "passed" : "FAILED";
        cells.set(scenario, (cells.get(scenario) ?? new Map()).set(version, cell));
      });
    }
    table.push(...drawTable(runtime, cells, extensions.gaps.length));
  }
  for (const name of extensions.gaps) table.push(`${name.padEnd(46)} skipped: the suite decides nothing in it`);
  skipped += extensions.gaps.length;
  return { passed: count(verdicts, true), failed: count(verdicts, false), skipped, table };
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
      const asked = await runServerScenario({
        scenario,
        version: version === beyond ? undefined : version,
        url: server.url,
        scratch: folder,
      });
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
async function listExtensions(only: string): Promise<{ ours: string[]; gaps: string[] }> {
  const names = await listScenarios(undefined, "server");
  const unknown = names.filter((name) => !gaps.test(name) && !ours.test(name));
  if (unknown.length > 0) throw new Error(`The suite has new extension scenarios: ${unknown.join(", ")}`);
  const wanted = names.filter((name) => name.includes(only));
  return { ours: wanted.filter((name) => !gaps.test(name)), gaps: wanted.filter((name) => gaps.test(name)) };
}

function drawTable(runtime: Runtime, cells: Cells, left: number): string[] {
  const used = [...versions, beyond].filter((version) => [...cells.values()].some((row) => row.has(version)));
  const line = (name: string, values: readonly string[]) =>
    `${name.padEnd(46)} ${values.map((value) => value.padEnd(11)).join("")}`.trimEnd();
  const rows = [...cells].map(([name, row]) => line(name, used.map((version) => row.get(version) ?? "-")));
  const sums = used.map((version) => {
    const column = [...cells.values()].flatMap((row) => row.get(version) ?? []);
    return `${column.filter((cell) => cell === "passed").length}/${column.length}`;
  });
  const whole = [...cells.values()].filter((row) => [...row.values()].every((cell) => cell === "passed")).length;
  const sum = `${whole} of ${cells.size + left} scenarios passed at each of their revisions`;
  return [line(`server, ${runtime}`, used), ...rows, line("passed (strict)", sums), sum, ""];
}
