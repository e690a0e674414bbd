/** JSR as Deno uses it. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readDenoManifest } from "../publish/manifest.ts";
import type { Registry } from "../publish/registry.ts";
import { judgeJsrFiles } from "./contents.ts";
import type { Workshop } from "./npm_project.ts";
import { judgeProgram, writePrograms } from "./programs.ts";

/**
 * Publishes with `deno publish`, then imports every subpath from there, checks the types and calls a tool.
 *
 * @returns Whether it is published.
 */
export async function proveJsr(workshop: Workshop, registry: Registry, sources: readonly string[]): Promise<boolean> {
  const { checks, folder, deno, names } = workshop;
  const { name, version } = readDenoManifest();
  const project = join(folder, "jsr");
  mkdirSync(project);
  const env = { JSR_URL: registry.url, DENO_DIR: join(folder, "deno") };
  const published = await checks.check("JSR: deno publish", async () => {
    // Types are checked below, as a user's compiler does it, and by the dry run of `bun run check`.
    const flags = ["--allow-dirty", "--no-check", "--token", "local", "--no-provenance"];
    await checks.run([deno, "publish", ...flags], { env });
    const files = registry.published();
    return `${name}@${version}, ${[...files.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0)} bytes`;
  });
  if (!published) return false;
  await checks.check("JSR: exact files", () => judgeJsrFiles([...registry.published().keys()], sources));
  writePrograms(project, (subpath) => JSON.stringify(`jsr:${name}@${version}${subpath.slice(1)}`), Object.keys(names));
  const options = { cwd: project, env };
  await checks.check("JSR: types, Deno", async () => {
    await checks.run([deno, "check", "--quiet", "--no-lock", "types.ts"], options);
    return "";
  });
  await checks.check("JSR: use, Deno", async () => {
    const ended = await checks.run([deno, "run", "-A", "--quiet", "--no-lock", "program.mjs"], options);
    return judgeProgram(ended.standardOutput, names);
  });
  return true;
}
