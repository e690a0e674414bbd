/**
 * The words of the command, where no config is looked at.
 *
 * @module
 */
import type { CommandLine } from "../command_line.ts";
import { takeApart } from "./build.ts";
import { judge } from "./read.ts";

/**
 * Reads the words of the command.
 *
 * @throws {UsageError} When they cannot be understood.
 */
export function readCommandLine(argv: readonly string[]): CommandLine {
  return judge(takeApart(argv));
}
