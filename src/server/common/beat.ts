/**
 * What is done again and again.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** Something that is done again and again; it keeps no process alive. */
export interface Beat {
  /** Begins, unless it goes on already; anew where it did not come in twice its time. */
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
  let lateAt = 0;
  const stop = (): void => {
    callOff?.();
    lateAt = 0;
  };
  const start = (): void => {
    // What is late will not come: a Worker has ended it with the request that it belonged to.
    if (clock.monotonic() < lateAt) return;
    stop();
    lateAt = clock.monotonic() + 2 * pause;
    callOff = clock.schedule(
      () => {
        lateAt = 0;
        if (work()) start();
      },
      pause,
      { background: true },
    );
  };
  return { start, stop };
}
