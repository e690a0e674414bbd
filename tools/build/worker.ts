/**
 * How a program is bundled for Workers: as Wrangler does it.
 *
 * @module
 */
import type { BuildOptions } from "esbuild";
import { root } from "../programs.ts";

/** Options of esbuild; what is external, and where the result goes, is said by who builds. */
export const workerBuild: BuildOptions = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "esnext",
  mainFields: ["module", "main"],
  conditions: ["workerd", "worker", "browser", "import"],
  absWorkingDir: root,
  logLevel: "silent",
};
