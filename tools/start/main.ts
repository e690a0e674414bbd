/** `bun run start`: `causeway start` out of the repository, for those who have no package of it yet. */
import process from "node:process";
import { InterruptedError } from "../../src/cli/failure.ts";
import { run } from "../../src/cli/main.ts";

const signals = { SIGINT: 130, SIGTERM: 143 } as const;

/** Serves until it is interrupted: that is how it ends well. */
export async function main(parameters: readonly string[]): Promise<number> {
  const stop = new AbortController();
  for (const [name, exitCode] of Object.entries(signals)) {
    // What had installed packages would end the process at once.
    process.removeAllListeners(name);
    process.once(name, () => stop.abort(new InterruptedError(exitCode)));
  }
  const code = await run(["start", ...parameters], stop.signal);
  return stop.signal.aborted ? 0 : code;
}
