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
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { describeFailure, InterruptedError, UsageError } from "./failure.ts";
import { findCommand } from "./program/commands.ts";
import { readWords } from "./program/read.ts";
import { writeError } from "./terminal.ts";

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const said: boolean | undefined = import.meta.main;
if (said ?? isProgram()) {
  process.exit(await run(process.argv.slice(2), interruption()));
}

/**
 * Runs the command; whatever goes wrong becomes one line and an exit code.
 *
 * @param argv What stands behind the command's name.
 * @param signal Ends it in good order: with exit code 130 when the reason is the program's own interruption.
 * @returns The exit code.
 */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<number> {
  try {
    if (argv[0] === "__complete") return await (await import("./program/complete.ts")).complete(argv.slice(1));
    const line = await readWords(argv);
    if (line.command === "help") return await (await import("./program/help.ts")).showHelp(line.words);
    if (line.command === "version") return await (await import("./program/help.ts")).showVersion();
    const run = await findCommand(line.command)?.load();
    if (!run) throw new UsageError(`Unknown command "${line.command}": causeway --help lists them`);
    return await run(line, signal, (await import("./auth/world.ts")).systemWorld);
  } catch (error) {
    const { exitCode, line } = describeFailure(error);
    await writeError(`causeway: ${line}\n`);
    return exitCode;
  }
}

/** Whether this module is what was started, for versions of Node that do not say it: a package manager starts it by a link. */
function isProgram(): boolean {
  try {
    return realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

/** Aborted by Ctrl-C and its like: what is open is closed in good order. The second time the command ends at once. */
function interruption(): AbortSignal {
  const stop = new AbortController();
  for (const [name, exitCode] of Object.entries(signals)) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(exitCode);
      stop.abort(new InterruptedError(exitCode));
    });
  }
  return stop.signal;
}
