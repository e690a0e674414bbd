/**
 * The runner's Worker as modules: as `runner_worker.mjs` builds it for `wrangler deploy`.
 *
 * @module
 */
import type { BuildResult } from "esbuild";
import { basename, join } from "node:path";
import { root } from "../programs.ts";
import { workerBuild } from "./worker.ts";

/** One module. */
export interface WorkerModule {
  readonly name: string;
  readonly text: string;
}

/** The Worker: its entry is the first. */
export interface BuiltWorker {
  readonly modules: readonly WorkerModule[];
  readonly result: BuildResult;
}

/**
 * Builds it.
 *
 * @param program The text of another entry, beside `workers/runner.ts`: `import worker from "./workers/runner.ts"`.
 */
export async function buildRunnerWorker(program?: string): Promise<BuiltWorker> {
  const { build } = await import("esbuild");
  const stdin = { contents: program ?? "", resolveDir: root, sourcefile: "runner.ts", loader: "ts" } as const;
  const result = await build({
    ...workerBuild,
    ...(program === undefined ? { entryPoints: [join(root, "workers", "runner.ts")] } : { stdin }),
    outdir: join(root, ".cache", "worker"),
    splitting: true,
    minify: true,
    external: ["cloudflare:*"],
    metafile: true,
    write: false,
  });
  const modules = (result.outputFiles ?? []).map(({ path, text }) => ({ name: basename(path), text }));
  const isEntry = ({ name }: WorkerModule): boolean => name === "runner.js" || name === "stdin.js";
  return { modules: [...modules.filter(isEntry), ...modules.filter((module) => !isEntry(module))], result };
}

/** The modules that an isolate reads when it starts: the entry, and what it imports without being asked. */
export function readAtStart(modules: readonly WorkerModule[]): readonly WorkerModule[] {
  const [entry] = modules;
  if (!entry) throw new TypeError("There is no module");
  const found = new Set([entry]);
  for (const { text } of found) {
    for (const [, name] of text.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) {
      const module = modules.find((other) => other.name === name);
      if (module) found.add(module);
    }
  }
  return [...found];
}
