/**
 * The command from its words to its exit code.
 *
 * @module
 */
import { describeFailure, UsageError } from "./failure.ts";
import { findCommand } from "./program/commands.ts";
import { readWords } from "./program/read.ts";
import { errorsWritten, forget, hurryAfter, writeError } from "./standard_error.ts";

/** Runs the command; whatever goes wrong becomes one line and an exit code. */
export async function runCommand(argv: readonly string[], signal: AbortSignal): Promise<number> {
  hurryAfter(signal);
  try {
    if (argv[0] === "__complete") return await (await import("./program/complete.ts")).complete(argv.slice(1));
    const line = await readWords(argv);
    if (line.command === "help") return await (await import("./program/help.ts")).showHelp(line.words);
    if (line.command === "version") return await (await import("./program/help.ts")).showVersion();
    const run = await findCommand(line.command)?.load();
    if (!run) throw new UsageError(`Unknown command "${line.command}": causeway --help lists them`);
    let failure: Error | undefined;
    const unrecorded = (error: Error): Error => failure = error;
    const code = await run({ ...line, unrecorded }, signal, (await import("./auth/world.ts")).systemWorld);
    if (failure) throw failure;
    return code;
  } catch (error) {
    const { exitCode, line } = describeFailure(error);
    await writeError(`causeway: ${line}\n`);
    return exitCode;
  } finally {
    await errorsWritten();
    forget(signal);
  }
}
