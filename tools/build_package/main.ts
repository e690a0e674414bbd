/**
 * `bun tools/run.ts build_package`: the package as npm gets it, in `dist/npm`. `--repository owner/name` says where it comes from,
 * `--out folder` where it goes, `--tag v1.2.3` which version it has to be.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../programs.ts";
import { readDenoManifest } from "../publish/manifest.ts";
import { buildPackage } from "../publish/package.ts";

/** Builds it and says where it is. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      repository: { type: "string" },
      out: { type: "string", default: join("dist", "npm") },
      tag: { type: "string" },
    },
  });
  const { repository, out, tag } = values;
  const { name, version } = readDenoManifest();
  if (repository !== undefined && !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    console.error(`--repository is ${JSON.stringify(repository)}: it is written like owner/name`);
    return 2;
  }
  if (tag !== undefined && tag !== `v${version}`) {
    console.error(`--tag is ${JSON.stringify(tag)}, and deno.json says v${version}: they have to agree`);
    return 2;
  }
  const folder = resolve(root, out);
  const files = await buildPackage(folder, repository);
  console.log(`${folder}: ${files.length} files of ${name} ${version}`);
  return 0;
}
