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
import { callTool } from "./call.ts";
import { login } from "./auth/login.ts";
import { logout } from "./auth/logout.ts";
import { whoami } from "./auth/whoami.ts";
import { systemWorld } from "./auth/world.ts";
import { readCommandLine } from "./command_line.ts";
import type { CommandLine } from "./command_line.ts";
import { describeFailure, InterruptedError } from "./failure.ts";
import { showHelp, showVersion } from "./help.ts";
import { ignoreLostReaders, writeError } from "./terminal.ts";
import { listTools } from "./tools.ts";

const commands: Readonly<
  Record<CommandLine["command"], (line: CommandLine, signal: AbortSignal) => Promise<number>>
> = {
  tools: listTools,
  call: callTool,
  login: (line, signal) => login(line, signal, systemWorld),
  logout: (line, signal) => logout(line, signal, systemWorld),
  whoami: (line, signal) => whoami(line, signal, systemWorld),
  // The gateway is loaded where it is wanted.
  serve: async (line, signal) => await (await import("./serve/serve.ts")).serve(line, signal, systemWorld),
  bridge: async (line, signal) => await (await import("./serve/serve.ts")).bridge(line, signal, systemWorld),
  servers: async (line) => await (await import("./servers/servers.ts")).servers(line),
  help: showHelp,
  version: showVersion,
};

const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const said: boolean | undefined = import.meta.main;
if (said ?? isProgram()) {
  ignoreLostReaders();
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
    const line = readCommandLine(argv);
    return await commands[line.command](line, signal);
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
