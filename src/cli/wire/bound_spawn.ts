/**
 * Programs that do not outlive this one.
 *
 * @module
 */
import process from "node:process";
import type { Spawn } from "../../ports.ts";

/** The same, and who interrupts this program twice has all of them end at once, whatever still runs. */
export function boundSpawn(spawn: Spawn): Spawn {
  // One for each program, however many there are.
  process.setMaxListeners(0);
  return async (command, events) => {
    let kill = (): void => {};
    let isOver = false;
    const child = await spawn(command, {
      output: (chunk) => events.output(chunk),
      outputEnd: () => events.outputEnd(),
      errorOutput: (chunk) => events.errorOutput(chunk),
      exit(status) {
        isOver = true;
        process.off("exit", kill);
        events.exit(status);
      },
    });
    kill = () => child.kill("SIGKILL");
    if (!isOver) process.on("exit", kill);
    return child;
  };
}
