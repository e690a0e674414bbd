/**
 * Programs that do not outlive this one.
 *
 * @module
 */
import process from "node:process";
import type { Spawn, SpawnedProcess } from "../../ports.ts";

/** The same, and who interrupts this program twice has all of them end at once, whatever still runs. */
export function boundSpawn(spawn: Spawn): Spawn {
  const running = new Set<SpawnedProcess>();
  process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));
  return async (command, events) => {
    let isOver = false;
    let ended = (): void => {
      isOver = true;
    };
    const child = await spawn(command, {
      output: (chunk) => events.output(chunk),
      outputEnd: () => events.outputEnd(),
      errorOutput: (chunk) => events.errorOutput(chunk),
      exit(status) {
        ended();
        events.exit(status);
      },
    });
    if (!isOver) {
      running.add(child);
      ended = () => void running.delete(child);
    }
    return child;
  };
}
