/**
 * The runtimes that tests run in.
 *
 * @module
 */
import { runInBun } from "./bun.ts";
import { runInDeno } from "./deno.ts";
import { runInNode } from "./node.ts";
import type { RunOptions, RuntimeName, RuntimeRun } from "./results.ts";
import { runInWorkerd } from "./workerd.ts";

/** Runs test files in a runtime. */
export const runners: Readonly<Record<RuntimeName, (options: RunOptions) => Promise<RuntimeRun>>> = {
  bun: runInBun,
  deno: runInDeno,
  node: runInNode,
  workerd: runInWorkerd,
};
