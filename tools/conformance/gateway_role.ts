/**
 * The gateway's part of `bun run conformance`: the conformance server behind a hub behind a gateway, asked by every scenario of
 * each revision that makes sense through a proxy. What does not is named with its reason, and so is what still has to pass.
 */
import { join } from "node:path";
import { listScenarios, runServerScenario, type Verdict } from "../conformance_strict.ts";
import { runSome } from "../process.ts";
import { chooseVersions, count, type Outcome, printVerdict, programOf } from "./outcome.ts";
import type { Selection } from "./outcome.ts";
import { startServer } from "./server_process.ts";

const versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const backs = ["modern", "legacy"] as const;
type Back = typeof backs[number];

/** Scenarios that are not asked through a gateway, by what their names begin with, and why. */
export const leftOut: readonly (readonly [name: RegExp, reason: string, back?: Back])[] = [];

/** Asks the gateway with a server of each era behind it, a fresh pair for each revision. */
export async function runGatewayRole(selection: Selection): Promise<Outcome> {
  const table: string[] = [];
  const verdicts: Verdict[] = [];
  let skipped = 0;
  if (programOf("bun") === undefined) return { passed: 0, failed: 0, skipped: 1, table: ["gateway: needs bun"] };
  for (const back of backs) {
    const tasks = chooseVersions(versions, selection).map((version) => async () => {
      const listed = (await listScenarios(version, "server")).filter((name) => name.includes(selection.only));
      const asked = listed.filter((name) => reasonFor(name, back) === undefined);
      const run = await ask(back, { version, scenarios: asked, scratch: selection.scratch });
      return { version, listed, run };
    });
    for (const { version, listed, run } of await runSome(tasks, 2)) {
      verdicts.push(...run);
      const failed = run.filter(({ passed }) => !passed);
      const left = listed.filter((name) => reasonFor(name, back) !== undefined);
      skipped += left.length;
      table.push(`gateway, ${back} behind, ${version}: ${run.length - failed.length}/${run.length} passed`);
      for (const { scenario, reasons } of failed) table.push(`  FAILED ${scenario}: ${reasons.join("; ")}`);
      for (const name of left) table.push(`  left out ${name}: ${reasonFor(name, back)}`);
    }
  }
  return { passed: count(verdicts, true), failed: count(verdicts, false), skipped, table };
}

/** Why a scenario is left out; undefined when it is not. */
export function reasonFor(scenario: string, back: Back): string | undefined {
  return leftOut.find(([name, , only]) => name.test(scenario) && (only ?? back) === back)?.[1];
}

async function ask(
  back: Back,
  { version, scenarios, scratch }: { version: string; scenarios: readonly string[]; scratch: string },
): Promise<Verdict[]> {
  const program = { program: "tests/conformance/gateway.ts", env: { BACK: back } };
  const server = await startServer("bun", scratch, program);
  const verdicts: Verdict[] = [];
  try {
    for (const scenario of scenarios) {
      const folder = join(scratch, `gateway-${back}-${version}-${scenario}`);
      const asked = await runServerScenario({ scenario, version, url: server.url, scratch: folder });
      const reasons = [...asked.reasons, ...(server.ended() ? ["the gateway ended"] : [])];
      const output = `${asked.output}\n${server.takeOutput()}`.trim();
      const verdict = { ...asked, passed: reasons.length === 0, reasons, output };
      printVerdict(verdict, version, "bun");
      verdicts.push(verdict);
    }
  } finally {
    server.stop();
  }
  return verdicts;
}
