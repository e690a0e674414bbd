/** What a runtime's run of the tests brought, and how it is shown. */

/** The runtimes that the tests run in. */
export type RuntimeName = "bun" | "deno" | "node" | "workerd";

/** One test that was run. */
export interface TestOutcome {
  /** Suites and test, joined by ` > `. */
  readonly name: string;
  /** The file, relative to the repository, where the runtime tells it. */
  readonly file?: string | undefined;
  readonly status: "passed" | "failed" | "skipped";
  /** Why it failed, or why it was skipped. */
  readonly detail?: string | undefined;
  /** How long it took, where the runtime tells it. */
  readonly milliseconds?: number;
}

/** One runtime's run. */
export interface RuntimeRun {
  readonly runtime: RuntimeName;
  readonly outcomes: readonly TestOutcome[];
  readonly milliseconds: number;
}

/** What a runtime is given. */
export interface RunOptions {
  /** Test files, relative to the repository. */
  readonly files: readonly string[];
  /** A folder of this part of the run alone, for reports and bundles. */
  readonly scratch: string;
  /** A folder that all parts share, for what was made before the first of them. */
  readonly shared: string;
  /** Milliseconds until the runtime is killed. */
  readonly timeout: number;
  /** Added to the environment of the tests. */
  readonly env: Readonly<Record<string, string>>;
}

/** Passed, failed and skipped tests. */
export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/** Counts outcomes. */
export function countOutcomes(outcomes: readonly TestOutcome[]): Counts {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const outcome of outcomes) counts[outcome.status]++;
  return counts;
}

/** The contract's words for counts. */
export function countLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
}

/** A runtime that cannot run here: one skipped entry that says why. */
export function missingRuntime(runtime: RuntimeName, why: string): RuntimeRun {
  return { runtime, outcomes: [{ name: `all tests in ${runtime}`, status: "skipped", detail: why }], milliseconds: 0 };
}

/**
 * Adds what the report of a runtime cannot say: that the process was killed, crashed, or told of no test at all.
 * Without this a crash before the report would look like a pass.
 */
export function completeRun(
  runtime: RuntimeName,
  outcomes: readonly TestOutcome[],
  files: readonly string[],
  ended: { code: number | null; timedOut: boolean; output: string; milliseconds: number },
): RuntimeRun {
  const failed = outcomes.some((outcome) => outcome.status === "failed");
  const all = [...outcomes];
  const tail = ended.output.trim().split("\n").slice(-40).join("\n");
  if (ended.timedOut) {
    const seconds = Math.round(ended.milliseconds / 1000);
    const silent = files.filter((file) => !outcomes.some((outcome) => outcome.file === file)).slice(0, 10).join(" ");
    const detail = `killed after ${seconds} s; no result from ${silent} …; it last wrote:\n${tail}`;
    all.push({ name: "the run as a whole", status: "failed", detail });
  } else if (ended.code !== 0 && !failed) {
    all.push({ name: "the run as a whole", status: "failed", detail: `exit code ${ended.code}; it wrote:\n${tail}` });
  } else if (outcomes.length === 0) {
    all.push({ name: "the run as a whole", status: "failed", detail: `no test was reported; it wrote:\n${tail}` });
  }
  return { runtime, outcomes: all, milliseconds: ended.milliseconds };
}

/** Failures and skips of a run as lines, then its counts. */
export function describeRun(run: RuntimeRun): string {
  const lines: string[] = [];
  for (const { name, file, status, detail } of run.outcomes) {
    if (status === "passed") continue;
    const place = file === undefined ? "" : ` (${file})`;
    const text = detail === undefined || detail === "" ? "" : `: ${detail}`;
    if (status === "skipped") lines.push(`skipped in ${run.runtime}: ${name}${place}${text}`);
    else lines.push(`FAILED in ${run.runtime}: ${name}${place}`, indent(detail ?? "no reason was given"), "");
  }
  const seconds = (run.milliseconds / 1000).toFixed(1);
  lines.push(`${run.runtime.padEnd(8)} ${countLine(countOutcomes(run.outcomes))} (${seconds} s)`);
  return lines.join("\n");
}

/** The files of a run that took longest, with their seconds, one a line. */
export function describeSlowest(run: RuntimeRun, count: number): string {
  const times = new Map<string, number>();
  for (const { file = "no file", milliseconds = 0 } of run.outcomes) {
    times.set(file, (times.get(file) ?? 0) + milliseconds);
  }
  const slowest = [...times].sort(([, one], [, other]) => other - one).slice(0, count);
  return slowest.map(([file, milliseconds]) => {
    return `${run.runtime.padEnd(8)} ${(milliseconds / 1000).toFixed(1).padStart(6)} s  ${file}`;
  }).join("\n");
}

/** A table of the tests that name their cases (`…: 12 cases, 0 hits`, as `tests/support/attack.ts` writes them); empty where none does. */
export function describeAttacks(runs: readonly RuntimeRun[]): string {
  const groups = new Map<string, { cases: number; failed: number }>();
  for (const { name, status } of runs.flatMap(({ outcomes }) => outcomes)) {
    const [, path = "", cases] = /^(.*): (\d+) cases, 0 hits$/s.exec(name) ?? [];
    if (cases === undefined || status === "skipped") continue;
    const group = path.split(" > ", 1)[0] ?? "";
    const counts = groups.get(group) ?? { cases: 0, failed: 0 };
    groups.set(group, counts);
    if (status === "failed") counts.failed++;
    else counts.cases += Number(cases);
  }
  if (!groups.size) return "";
  const rows = [...groups].map(([group, { cases, failed }]) => {
    return `${group.padEnd(60)} ${String(cases).padStart(7)} ${(failed ? "FAILED" : "0").padStart(7)}`;
  });
  const head = `${"attacks, in all runtimes that ran".padEnd(60)} ${"cases".padStart(7)} ${"hits".padStart(7)}`;
  return [head, ...rows].join("\n");
}

function indent(text: string): string {
  return text.trim().split("\n").slice(0, 60).map((line) => `    ${line}`).join("\n");
}
