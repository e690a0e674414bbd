/**
 * `bun tools/run.ts manifests`: what `deno.json`, `package.json`, the published manifest, the version and the workflows say agrees.
 * `--write` takes the exports of `deno.json` over into `package.json`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../programs.ts";
import { readDenoManifest, readNpmManifest } from "../publish/manifest.ts";
import { judgeManifests, judgeWorkflows, readRepository } from "./judge.ts";

/** Prints what is wrong; 1 when something is. */
export function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { write: { type: "boolean", default: false } } });
  if (values.write) writePackage();
  const repository = readRepository(root);
  const problems = [...judgeManifests(repository), ...judgeWorkflows(repository.workflows)];
  for (const problem of problems) console.log(problem);
  if (problems.some((problem) => problem.includes("differs"))) {
    console.log("The list is in deno.json: `bun tools/run.ts manifests --write` takes it over into package.json");
  }
  return Promise.resolve(problems.length === 0 ? 0 : 1);
}

/** Keeps everything of `package.json` but what `deno.json` says. */
function writePackage(): void {
  const { name, version, license, exports } = readDenoManifest();
  const manifest = { ...readNpmManifest(), name, version, license, exports };
  writeFileSync(join(root, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}
