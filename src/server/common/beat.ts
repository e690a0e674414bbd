/**
 * What is done again and again.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** Something that is done again and again; it keeps no process alive. */
export interface Beat {
  /** Begins, unless it goes on already. */
  start(): void;
  /** Ends it, until it is begun again. */
  stop(): void;
}

/**
 * Makes a beat; it stands still.
 *
 * @param pause From one time to the next, in milliseconds.
 * @param work What is done. It tells whether it shall go on.
 */
export function createBeat(clock: Clock, pause: number, work: () => boolean): Beat {
  let callOff: (() => void) | undefined;
  const start = (): void => {
    callOff ??= clock.schedule(
      () => {
        callOff = undefined;
        if (work()) start();
      },
      pause,
      { background: true },
    );
  };
  const stop = (): void => {
    callOff?.();
    callOff = undefined;
  };
  return { start, stop };
}
