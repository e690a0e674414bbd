#!/usr/bin/env -S bun
/**
 * The command `causeway`: lists and calls the tools of an MCP server from a terminal, and signs in to it. It runs unbuilt on Bun and Deno, and
 * on Node once its types are stripped.
 *
 * @example List the tools of a local server
 * ```sh
 * causeway tools "npx -y @modelcontextprotocol/server-everything"
 * ```
 *
 * @module
 */
import process from "node:process";
import { keepOwnCode } from "./session/compiled.ts";
import { ignoresHangUp } from "./session/hang_up.ts";
import { headStart } from "./session/head_start.ts";

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const said: boolean | undefined = import.meta.main;
if (said ?? await isProgram()) {
  const [argv, signal] = [process.argv.slice(2), interruption()];
  await keepOwnCode();
  await headStart.begin(argv);
  const exitCode = await run(argv, signal);
  await headStart.end();
  process.exit(exitCode);
}

/**
 * Runs the command; whatever goes wrong becomes one line and an exit code.
 *
 * @param argv What stands behind the command's name.
 * @param signal Ends it in good order: with exit code 130 when the reason is the program's own interruption.
 * @returns The exit code.
 */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<number> {
  // Not before: what is read until here is what a local server waits for.
  return await (await import("./run.ts")).runCommand(argv, signal);
}

/** Whether this module is what was started, for versions of Node that do not say it: a package manager starts it by a link. */
async function isProgram(): Promise<boolean> {
  const [{ realpathSync }, { fileURLToPath }] = await Promise.all([import("node:fs"), import("node:url")]);
  try {
    return realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

/** Aborted by Ctrl-C and its like: what is open is closed in good order. The second time the command ends at once. */
function interruption(): AbortSignal {
  const stop = new AbortController();
  let isStopping = false;
  for (const [name, exitCode] of Object.entries(signals)) {
    const isIgnored = name === "SIGHUP" && ignoresHangUp;
    process.on(name, () => {
      // It is listened to all the same: Deno takes each of them once there is one listener, and ends the program by those without.
      if (isIgnored) return;
      if (isStopping) process.exit(exitCode);
      isStopping = true;
      void import("./failure.ts").then(({ InterruptedError }) => stop.abort(new InterruptedError(exitCode)));
    });
  }
  return stop.signal;
}
