/**
 * `causeway --help`, `causeway help` and `causeway --version`.
 *
 * @module
 */
import process from "node:process";
import { didYouMean } from "../../hub/config/nearest.ts";
import { version } from "../../version.ts";
import { exitCodes, UsageError } from "../failure.ts";
import { writeOut } from "../terminal.ts";
import { commandNames, verbsOf } from "./commands.ts";
import { overviewText } from "./overview.ts";

/**
 * Prints how the command is used.
 *
 * @param words The command that is asked for; none: all.
 * @throws {UsageError} When there is no such command.
 */
export async function showHelp(words: readonly string[]): Promise<number> {
  const [name, verb] = words;
  if (name !== undefined && !commandNames().includes(name)) {
    throw new UsageError(`Unknown command "${name}"${didYouMean(name, commandNames())}: causeway --help lists them`);
  }
  const width = Math.max(40, process.stdout.columns || 80);
  const isVerb = name !== undefined && verb !== undefined && verbsOf(name).includes(verb);
  const text = name === undefined
    ? overviewText(width)
    : (await import("./build.ts")).helpText(isVerb ? `${name} ${verb}` : name, width);
  await writeOut(text);
  return exitCodes.ok;
}

/** Prints the version. */
export async function showVersion(): Promise<number> {
  await writeOut(`causeway ${version}\n`);
  return exitCodes.ok;
}
