/**
 * The official conformance suite, one scenario at a time, believing nothing that is vacuous. The suite's own mode passes
 * a scenario in which the client crashed, hung or did nothing, or in which nothing applied to the server; here each of
 * these fails it, and so does a warning.
 */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { suiteCommand } from "./conformance/suite.ts";
import { runProcess } from "./process.ts";

/** A scenario's verdict. */
export interface Verdict {
  readonly scenario: string;
  readonly passed: boolean;
  /** Checks that succeeded. */
  readonly succeeded: number;
  /** All checks that were decided: succeeded, failed or warned. */
  readonly decided: number;
  readonly milliseconds: number;
  /** Why it did not pass; empty when it did. */
  readonly reasons: readonly string[];
  /** The end of what the suite and the client wrote. */
  readonly output: string;
}

/** Whom the suite judges. */
export type Role = "client" | "server";

interface AnyScenarioRun {
  readonly scenario: string;
  /** The protocol revision to speak; without one what the suite takes for itself, as scenarios of extensions want it. */
  readonly version: string | undefined;
  /** A folder that is given to nothing else. */
  readonly scratch: string;
  /** Milliseconds that the client, or the server's scenario, has. Default 15,000. */
  readonly timeout?: number;
}

/** Which client to run against which scenario. */
export interface ScenarioRun extends AnyScenarioRun {
  /** The shell command that starts the client; the suite appends the server's URL. */
  readonly command: string;
}

/** Which server to ask in which scenario. */
export interface ServerScenarioRun extends AnyScenarioRun {
  /** Where the server listens already: the suite wants `localhost`. */
  readonly url: string;
}

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

/** Milliseconds beyond the client's, after which the suite itself is killed. */
const suiteGrace = 45_000;
/** A check that the suite adds by itself: alone it shows nothing. */
const addedCheck = "wire-schema-valid";

/**
 * The scenarios of a role, in the suite's order.
 *
 * @param version Only those of a protocol revision; without it those of the extensions, which belong to none.
 */
export async function listScenarios(version: string | undefined, role: Role = "client"): Promise<string[]> {
  const narrowed = version === undefined ? [] : ["--spec-version", version];
  const ended = await runProcess([...suiteCommand(), "list", `--${role}`, ...narrowed]);
  const wanted = version === undefined ? /^ {2}- (\S+) \[extension\]/gm : /^ {2}- (\S+)/gm;
  const names = [...ended.standardOutput.matchAll(wanted)].flatMap(([, name]) => name ?? []);
  if (ended.code !== 0 || names.length === 0) {
    throw new Error(`Cannot list the scenarios of ${version ?? "the extensions"}: ${ended.output}`);
  }
  return names;
}

/** Runs one client scenario and judges it. */
export async function runScenario({ command, ...run }: ScenarioRun): Promise<Verdict> {
  // Without `exec` the suite's time-out kills only the shell, and both it and the client stay for ever.
  return await judge("client", run, ["--command", `exec ${command}`]);
}

/** Runs one server scenario and judges it. */
export async function runServerScenario({ url, ...run }: ServerScenarioRun): Promise<Verdict> {
  return await judge("server", run, ["--url", url]);
}

async function judge(
  role: Role,
  { scenario, version, scratch, timeout = 15_000 }: AnyScenarioRun,
  peer: readonly string[],
): Promise<Verdict> {
  mkdirSync(scratch, { recursive: true });
  const target = ["--scenario", scenario, ...(version === undefined ? [] : ["--spec-version", version]), ...peer];
  const bounds = ["--timeout", String(timeout), "-o", scratch];
  const ended = await runProcess([...suiteCommand(), role, ...target, ...bounds], { timeout: timeout + suiteGrace });
  const checks = readChecks(scratch);
  const count = (status: Check["status"]) => checks.filter((check) => check.status === status).length;
  const reasons = checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, errorMessage = "" }) => `${status} ${id} ${errorMessage}`.trim());
  if (!checks.some(({ id, status }) => status === "SUCCESS" && id !== addedCheck)) {
    reasons.push("no real check succeeded");
  }
  if (/CLIENT TIMED OUT/.test(ended.output)) reasons.push(`the client did not end within ${timeout} ms`);
  if (ended.timedOut) reasons.push("the suite itself did not end");
  else if (ended.code !== 0) reasons.push(`exit code ${ended.code}`);
  return {
    scenario,
    passed: reasons.length === 0,
    succeeded: count("SUCCESS"),
    decided: count("SUCCESS") + count("FAILURE") + count("WARNING"),
    milliseconds: ended.milliseconds,
    reasons: [...new Set(reasons)],
    output: ended.output.trim().slice(-4000),
  };
}

/** The suite writes its checks to a folder of its own naming, nested for scenarios with a slash in their name. */
function readChecks(folder: string): Check[] {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith("checks.json"));
  return found === undefined ? [] : JSON.parse(readFileSync(join(folder, found), "utf8"));
}
