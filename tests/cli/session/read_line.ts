/**
 * The words of the command, where no config is looked at.
 *
 * @module
 */
import type { CommandLine } from "../../../src/cli/command_line.ts";
import { takeApart } from "../../../src/cli/program/build.ts";
import { judge } from "../../../src/cli/program/read.ts";

/**
 * Reads the words of the command.
 *
 * @throws {UsageError} When they cannot be understood.
 */
export function readCommandLine(argv: readonly string[]): CommandLine {
  return judge(takeApart(argv));
}
