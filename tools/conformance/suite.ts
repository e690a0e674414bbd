/** The official suite as a program. Each scenario starts it anew, so it is compiled once: that takes two thirds off its start. */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { runProcess } from "../process.ts";
import { bunPath, root } from "../programs.ts";

const folder = join(root, "node_modules", "@modelcontextprotocol", "conformance");
const suite = join(folder, "dist", "index.js");

/** The command that starts the suite, compiled where that was done. */
export function suiteCommand(): string[] {
  const compiled = join(compiledFolder(), "index.js");
  return [bun(), existsSync(compiled) ? compiled : suite];
}

/** Compiles the suite for the Bun at hand, unless it was done before. */
export async function compileSuite(): Promise<void> {
  const target = compiledFolder();
  if (existsSync(target)) return;
  const made = mkdtempSync(`${target}-`);
  const ended = await runProcess([bun(), "build", "--target=bun", "--bytecode", "--outdir", made, suite]);
  if (ended.code !== 0) throw new Error(`Cannot compile the conformance suite: ${ended.output}`);
  try {
    renameSync(made, target);
  } catch {
    // another run was first
    rmSync(made, { recursive: true, force: true });
  }
}

/** One for each version of the suite and build of Bun: compiled code is good for that one alone. */
function compiledFolder(): string {
  if (!existsSync(suite)) throw new Error("The conformance suite is not installed: run `bun install`");
  const { version }: { version: string } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(root, ".cache", `conformance-suite-${version}-bun-${process.versions.bun ?? "any"}`);
}

function bun(): string {
  const program = bunPath();
  if (program === undefined) throw new Error("The conformance suite is run by Bun, and there is no bun on PATH");
  return program;
}
