/**
 * The gateway's part of `bun run conformance`: the conformance server behind a hub behind a gateway, asked by every scenario of
 * each revision. What cannot be the same through a gateway is accepted by name, with its reason; any other complaint is a failure.
 */
import { join } from "node:path";
import { listScenarios, runServerScenario, type Verdict } from "../conformance_strict.ts";
import { runSome } from "../process.ts";
import { chooseVersions, count, type Outcome, printVerdict, programOf } from "./outcome.ts";
import type { Selection } from "./outcome.ts";
import { startServer } from "./server_process.ts";

const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/** Stands for the scenarios of extensions: they belong to no revision. */
const beyond = "extensions";
/** The extensions that go through: skills (SEP-2640) are a server's own. In one scenario the suite skips every check. */
const through = /^tasks-(?!status-notifications$)/;
const backs = ["modern", "legacy"] as const;
type Back = typeof backs[number];

/** What a scenario finds that is as it has to be through a gateway, and why. */
export interface Accepted {
  readonly scenario: RegExp;
  /** How the suite's complaint begins. */
  readonly complaint: RegExp;
  readonly why: string;
  /** Only with a server of this era behind. */
  readonly back?: Back;
}

const keys = /^input-required-result-(basic-elicitation|ignore-extra-params)$/;
const unasked = "a legacy server's question has no key of its own: the suite looks for the one of its modern fixture";

/** All of it: any other complaint fails the scenario. */
export const accepted: readonly Accepted[] = [
  {
    scenario: /^server-stateless$/,
    complaint: /^WARNING sep-2575-server-sends-(prompts|tools|resources)-list-changed-on-subscription /,
    why: "the hub lists a server again at most once in 5 s, and the suite waits for less",
  },
  {
    scenario: /^server-stateless$/,
    complaint: /^(FAILURE sep-2575-(server-rejects-undeclared-capability|missing-capability-http-400) |exit code 1$)/,
    why: "a legacy server asks in the middle of its tool: it is told that nobody can be asked, and its tool answers",
    back: "legacy",
  },
  {
    scenario: keys,
    complaint: /^(FAILURE sep-2322-elicitation-incomplete|WARNING sep-2322-ignore-unexpected-params) /,
    why: unasked,
    back: "legacy",
  },
  { scenario: keys, complaint: /^(no real check succeeded|exit code 1)$/, why: unasked, back: "legacy" },
  {
    scenario: /^tasks-required-task-error$/,
    complaint:
      /^(FAILURE sep-2663-server-returns-missing-capability-when-required |no real check succeeded$|exit code 1$)/,
    why: "a tool that has to be a task is called by anybody: the gateway waits for callers that know no tasks",
  },
  {
    scenario: /^tasks-mrtr-composition$/,
    complaint: /^(FAILURE sep-2663-mrtr-synchronous-before-task-creation |no real check succeeded$|exit code 1$)/,
    why: "a legacy server makes the task first and asks in it",
    back: "legacy",
  },
];

/** Asks the gateway with a server of each era behind it, a fresh pair for each revision. */
export async function runGatewayRole(selection: Selection): Promise<Outcome> {
  const table: string[] = [];
  const verdicts: Verdict[] = [];
  if (programOf("bun") === undefined) return { passed: 0, failed: 0, skipped: 1, table: ["gateway: needs bun"] };
  for (const back of backs) {
    const columns = [...chooseVersions(versions, selection), ...(selection.version === undefined ? [beyond] : [])];
    const tasks = columns.map((version) => async () => {
      const names = version === beyond
        ? (await listScenarios(undefined, "server")).filter((name) => through.test(name))
        : await listScenarios(version, "server");
      const listed = names.filter((name) => name.includes(selection.only));
      const run = await ask(back, { version, scenarios: listed, scratch: selection.scratch });
      return { version, run };
    });
    for (const { version, run } of await runSome(tasks, 2)) {
      verdicts.push(...run);
      const failed = run.filter(({ passed }) => !passed);
      table.push(`gateway, ${back} behind, ${version}: ${run.length - failed.length}/${run.length} passed`);
      for (const { scenario, reasons } of failed) table.push(`  FAILED ${scenario}: ${reasons.join("; ")}`);
      for (const { scenario, known } of run) {
        for (const why of known) table.push(`  accepted in ${scenario}: ${why}`);
      }
    }
  }
  return { passed: count(verdicts, true), failed: count(verdicts, false), skipped: 0, table };
}

/** A verdict, and what of it is as it has to be. */
interface Judged extends Verdict {
  readonly known: readonly string[];
}

/** Why a complaint is none here; undefined when it is one. */
export function reasonFor(scenario: string, complaint: string, back: Back): string | undefined {
  return accepted.find((one) =>
    one.scenario.test(scenario) && one.complaint.test(complaint) && (one.back ?? back) === back
  )?.why;
}

async function ask(
  back: Back,
  { version, scenarios, scratch }: { version: string; scenarios: readonly string[]; scratch: string },
): Promise<Judged[]> {
  const program = { program: "tests/conformance/gateway.ts", env: { BACK: back } };
  const server = await startServer("bun", scratch, program);
  const verdicts: Judged[] = [];
  try {
    for (const scenario of scenarios) {
      const folder = join(scratch, `gateway-${back}-${version}-${scenario}`);
      const asked = await runServerScenario({
        scenario,
        version: version === beyond ? undefined : version,
        url: server.url,
        scratch: folder,
      });
      const known = asked.reasons.flatMap((complaint) => reasonFor(scenario, complaint, back) ?? []);
      const wrong = asked.reasons.filter((complaint) => reasonFor(scenario, complaint, back) === undefined);
      const reasons = [...wrong, ...(server.ended() ? ["the gateway ended"] : [])];
      const output = `${asked.output}\n${server.takeOutput()}`.trim();
      const verdict = { ...asked, passed: reasons.length === 0, reasons, known: [...new Set(known)], output };
      printVerdict(verdict, version, "bun");
      verdicts.push(verdict);
    }
  } finally {
    server.stop();
  }
  return verdicts;
}
