/**
 * `bun run first-minutes`: what a new user does, on a machine that has only npm, only Bun or only Deno, from a fresh clone and with an empty
 * home. Each step is timed; one that does not give what it should fails. `--only npm,bun,deno` narrows it.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runProcess } from "../process.ts";
import { bunPath, denoPath, nodePath, root } from "../programs.ts";
import { certificates, type Machine, machines } from "./machines.ts";

/** No machine of ours has one of these but by choice. */
const runtimes = /^(node|nodejs|npm|npx|corepack|yarn|pnpm|bun|bunx|deno)$/;
/** Milliseconds for a step. */
const longest = 600_000;

/** Runs the steps of each machine; 1 when one failed. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { only: { type: "string" } } });
  const only = values.only?.split(",");
  const chosen = machines.filter(({ name }) => only?.includes(name) ?? true);
  if (chosen.length === 0) {
    console.error(`--only takes ${machines.map(({ name }) => name).join(", ")}`);
    return 2;
  }
  let passed = 0;
  let failed = 0;
  for (const machine of chosen) {
    const folder = mkdtempSync(join(tmpdir(), "causeway-first-"));
    try {
      const outcome = await tryMachine(machine, folder);
      passed += outcome.passed;
      failed += outcome.failed;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed ? 1 : 0;
}

async function tryMachine(machine: Machine, folder: string): Promise<{ passed: number; failed: number }> {
  const counts = { passed: 0, failed: 0 };
  const env = createMachine(machine, folder);
  console.log(`\nonly ${machine.name}`);
  let total = 0;
  for (const { title, line, file, expected } of machine.steps) {
    const place = join(folder, file?.startsWith("app/") || line.startsWith("cd ") ? "." : "causeway");
    if (file) {
      mkdirSync(join(folder, "app"), { recursive: true });
      writeFileSync(join(folder, file), machine.files[file] ?? "");
      continue;
    }
    const cwd = title === "clone" ? folder : place;
    const command = line.replace("$CLONE", root);
    const { code, output, milliseconds } = await runProcess(["/bin/sh", "-c", command], { cwd, env, timeout: longest });
    const found = expected.exec(output);
    const isRight = code === 0 && found !== null;
    counts[isRight ? "passed" : "failed"]++;
    total += milliseconds;
    console.log(
      `  ${(milliseconds / 1_000).toFixed(1).padStart(6)} s  ${isRight ? "ok    " : "FAILED"}  ${line}${
        found?.[0] ? `: ${found[0]}` : ""
      }`,
    );
    if (!isRight) console.log(output.trim().split("\n").slice(-20).map((text) => `            ${text}`).join("\n"));
  }
  console.log(`  ${(total / 1_000).toFixed(1).padStart(6)} s  in all`);
  return counts;
}

/** A PATH with the system's programs and one runtime, and an empty home. */
function createMachine({ name }: Machine, folder: string): Record<string, string> {
  const programs = join(folder, "bin");
  const home = join(folder, "home");
  mkdirSync(programs);
  mkdirSync(home);
  const found = new Map<string, string>();
  for (const place of ["/usr/local/bin", "/usr/bin", "/bin"]) {
    for (const program of readdirSync(place)) {
      if (!runtimes.test(program) && !found.has(program)) found.set(program, join(place, program));
    }
  }
  for (const [program, path] of own(name)) found.set(program, path);
  for (const [program, path] of found) symlinkSync(path, join(programs, program));
  const cache = join(home, ".cache");
  const folders = { BUN_INSTALL: join(home, ".bun"), DENO_DIR: join(cache, "deno"), XDG_CACHE_HOME: cache };
  return { PATH: programs, HOME: home, ...folders, ...certificates };
}

function own(name: Machine["name"]): [string, string][] {
  const [bun = "", deno = "", node = ""] = [bunPath(), denoPath(), nodePath()];
  if (name === "bun") return [["bun", bun], ["bunx", bun]];
  if (name === "deno") return [["deno", deno]];
  const place = (program: string): string => join(node, "..", program);
  return [["node", node], ["npm", place("npm")], ["npx", place("npx")]];
}
