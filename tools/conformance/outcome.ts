/** What both roles of the conformance run share: what is chosen, what came out, and the line of a verdict. */
import type { Verdict } from "../conformance_strict.ts";
import { bunPath, denoPath, nodePath } from "../programs.ts";

/** The runtimes that a role can run in. */
export const runtimes = ["bun", "deno", "node", "workerd"] as const;
export type Runtime = typeof runtimes[number];

/** What of the suite is run. */
export interface Selection {
  /** Only scenarios with this in their name; all of them when it is empty. */
  readonly only: string;
  /** Only this revision. */
  readonly version: string | undefined;
  /** Only these runtimes; undefined leaves it to the role. */
  readonly runtimes: readonly Runtime[] | undefined;
  /** A folder for what the run writes. */
  readonly scratch: string;
}

/** What came out of a role. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The lines of its table. */
  readonly table: readonly string[];
}

/** Whether this names a runtime. */
export function isRuntime(name: string): name is Runtime {
  return runtimes.some((runtime) => runtime === name);
}

/** The program that a runtime is started with; undefined when it is not installed. Bun is workerd's host. */
export function programOf(runtime: Runtime): string | undefined {
  return { bun: bunPath, deno: denoPath, node: nodePath, workerd: bunPath }[runtime]();
}

/** The scenarios' revisions in order, or the one that was chosen. */
export function chooseVersions(versions: readonly string[], selection: Selection): readonly string[] {
  return versions.filter((version) => selection.version === undefined || version === selection.version);
}

/** Prints a line for a scenario, and what was written when it failed. */
export function printVerdict(verdict: Verdict, version: string, runtime: Runtime): void {
  const { scenario, passed, succeeded, decided, milliseconds, reasons } = verdict;
  const cells = [passed ? "PASS" : "FAIL", version, runtime.padEnd(8), scenario.padEnd(46)];
  console.log(`${cells.join(" ")} checks ${succeeded}/${decided} ${Math.round(milliseconds)} ms ${reasons.join("; ")}`);
  if (!passed) console.log(verdict.output.split("\n").map((line) => `    ${line}`).join("\n"));
}

/** How many of the verdicts passed, or failed. */
export function count(verdicts: readonly Verdict[], passed: boolean): number {
  return verdicts.filter((verdict) => verdict.passed === passed).length;
}
