/**
 * `bun run publish-test`: publishes the package to registries of its own on loopback, then uses it from there as its users will:
 * from JSR with Deno; in JSR's form for npm, and as npm's own package, with Node, Bun and Deno. Every subpath is imported and type-checked, a
 * tool is called, the command is run; and what is in the packages is compared with what belongs there. Nothing leaves the machine.
 * `--only jsr` does the part of Deno and JSR alone.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bunPath, denoPath, nodePath, npmPath } from "../programs.ts";
import { readNpmManifest } from "../publish/manifest.ts";
import { publishedSources } from "../publish/package.ts";
import { startRegistry } from "../publish/registry.ts";
import { newestNodePath } from "../test/newer_node.ts";
import { Checks } from "./checks.ts";
import { namesOfSources } from "./contents.ts";
import { proveJsr } from "./jsr.ts";
import { proveJsrForm } from "./jsr_form.ts";
import { proveNpm } from "./npm.ts";
import type { Workshop } from "./npm_project.ts";

/** Milliseconds for all of it: it takes 40 s on two idle cores. */
const limit = 240_000;

/** Proves all of it, and prints `N passed, N failed, N skipped`. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { only: { type: "string" } } });
  if (values.only !== undefined && values.only !== "jsr") {
    console.error(`--only is ${JSON.stringify(values.only)}: it takes jsr`);
    return 2;
  }
  const deno = denoPath();
  if (deno === undefined) {
    console.error("Publishing needs Deno: its package is not installed and there is no deno on PATH");
    return 1;
  }
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "causeway-publish-"));
  const registry = await startRegistry(Object.keys(readNpmManifest().dependencies));
  const checks = new Checks(limit);
  try {
    writeFileSync(join(folder, "npmrc"), `${registry.url.replace("http:", "")}:_authToken=local\n`);
    const workshop: Workshop = {
      checks,
      folder,
      registry: registry.url,
      deno,
      bun: bunPath(),
      node: npmPath() === undefined ? undefined : nodePath(),
      newestNode: values.only === undefined ? await newestNodePath() : undefined,
      names: await namesOfSources(),
    };
    const sources = publishedSources();
    if (values.only === undefined) await proveLockfile(workshop);
    // Two at a time: most of what they do is waiting for one process each.
    const [published, declarations] = await Promise.all([
      proveJsr(workshop, registry, sources),
      values.only === undefined ? proveNpm(workshop, sources) : undefined,
    ]);
    if (published && declarations !== undefined) await proveJsrForm(workshop, registry, declarations);
  } finally {
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const { passed, failed, skipped } = checks;
  console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed === 0 && passed > 0 ? 0 : 1;
}

/** What is installed is what `bun.lockb` says, for everybody. */
async function proveLockfile({ checks, bun }: Workshop): Promise<void> {
  if (bun === undefined) return checks.skip("the lockfile is that of package.json", "there is no bun");
  await checks.check("the lockfile is that of package.json", async () => {
    await checks.run([bun, "install", "--frozen-lockfile", "--dry-run"]);
    return "";
  });
}
