// What `wrangler deploy` builds the runner's Worker with (`[build]` in wrangler.toml), on whatever Node Wrangler runs: plain JavaScript, no
// package but esbuild. Parts that are loaded when they are wanted become modules of their own: an isolate that starts reads none of them.
// runner_worker.ts builds the same for tests and sizes.
import { build } from "esbuild";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const outdir = `${root}.cache/worker`;

// Modules of the build before would be deployed too.
rmSync(outdir, { recursive: true, force: true });
await build({
  entryPoints: [`${root}workers/runner.ts`],
  outdir,
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  platform: "neutral",
  target: "esnext",
  mainFields: ["module", "main"],
  conditions: ["workerd", "worker", "browser", "import"],
  external: ["cloudflare:*"],
});
