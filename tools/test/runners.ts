/**
 * The runtimes that tests run in.
 *
 * @module
 */
import { runInBun } from "./bun.ts";
import { runInDeno } from "./deno.ts";
import { prepareNode, runInNode } from "./node.ts";
import type { RunOptions, RuntimeName, RuntimeRun } from "./results.ts";
import { runInWorkerd } from "./workerd.ts";

/** How a runtime runs test files. */
export interface Runner {
  /** Makes, in a folder, what all parts of the run share; called once, before the first. */
  prepare?(shared: string): Promise<void>;
  /** Runs a part of the files. */
  run(options: RunOptions): Promise<RuntimeRun>;
}

/** The runtimes by name. */
export const runners: Readonly<Record<RuntimeName, Runner>> = {
  bun: { run: runInBun },
  deno: { run: runInDeno },
  node: { prepare: prepareNode, run: runInNode },
  workerd: { run: runInWorkerd },
};
