/**
 * `bun run conformance`: our client in every runtime, and our server, against the official suite, strictly judged, at each
 * revision that the suite speaks. `--role client|server`, `--runtime bun|deno|node|workerd`, `--version <revision>` and
 * `--only <part of a name>` narrow it. Without `--runtime` the server runs in Bun and workerd.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { runClientRole } from "./conformance/client_role.ts";
import { runGatewayRole } from "./conformance/gateway_role.ts";
import { isRuntime, type Outcome, runtimes, type Selection } from "./conformance/outcome.ts";
import { runServerRole } from "./conformance/server_role.ts";
import { compileSuite } from "./conformance/suite.ts";
import { root } from "./programs.ts";

const roles = { client: runClientRole, server: runServerRole, gateway: runGatewayRole };

/** Runs the roles, prints a line per scenario and a table per role, and answers 1 when a scenario failed. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      only: { type: "string", default: "" },
      role: { type: "string" },
      runtime: { type: "string" },
      version: { type: "string" },
    },
  });
  const named = values.runtime?.split(",");
  const wrong = named?.find((name) => !isRuntime(name));
  if (wrong !== undefined || (values.role !== undefined && !Object.hasOwn(roles, values.role))) {
    console.error(`There is no runtime or role ${JSON.stringify(wrong ?? values.role)}`);
    return 2;
  }
  const scratch = join(root, ".cache", `conformance-${process.pid}`);
  mkdirSync(scratch, { recursive: true });
  const selection: Selection = {
    only: values.only,
    version: values.version,
    runtimes: named === undefined ? undefined : runtimes.filter((name) => named.includes(name)),
    scratch,
  };
  const outcomes: Outcome[] = [];
  try {
    await compileSuite();
    for (const [role, run] of Object.entries(roles)) {
      if (values.role === undefined || values.role === role) outcomes.push(await run(selection));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  for (const { table } of outcomes) console.log(`\n${table.join("\n")}`);
  const sum = (key: "passed" | "failed" | "skipped") => outcomes.reduce((total, outcome) => total + outcome[key], 0);
  console.log(`${sum("passed")} passed, ${sum("failed")} failed, ${sum("skipped")} skipped`);
  return sum("passed") > 0 && sum("failed") === 0 ? 0 : 1;
}
