/** Bundles of the conformance programs, for runtimes that cannot run them as they are written. */
import { join } from "node:path";
import { root } from "../programs.ts";
import { workerBuild } from "../build/worker.ts";

/** What is bundled for whom. */
export interface Bundling {
  /** The module to begin with, from the repository's root. */
  readonly entry: string;
  readonly outfile: string;
  readonly platform: "node" | "workerd";
}

/** Writes one module with everything in it but the packages of the platform. */
export async function bundle({ entry, outfile, platform }: Bundling): Promise<void> {
  const { build } = await import("esbuild");
  const paths = { entryPoints: [join(root, entry)], outfile };
  if (platform === "workerd") await build({ ...workerBuild, ...paths, external: ["node:*", "cloudflare:*"] });
  else await build({ ...workerBuild, ...paths, platform: "node", target: "node20", packages: "external" });
}
