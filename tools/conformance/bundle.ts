/** Bundles of the conformance programs, for runtimes that cannot run them as they are written. */
import { join } from "node:path";
import { root } from "../programs.ts";

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
  const entryPoints = [join(root, entry)];
  const shared = {
    entryPoints,
    outfile,
    bundle: true,
    format: "esm",
    absWorkingDir: root,
    logLevel: "silent",
  } as const;
  if (platform === "node") {
    await build({ ...shared, platform: "node", target: "node20", packages: "external" });
    return;
  }
  await build({
    ...shared,
    platform: "neutral",
    target: "esnext",
    mainFields: ["module", "main"],
    conditions: ["workerd", "worker", "browser", "import"],
    external: ["node:*", "cloudflare:*"],
  });
}
