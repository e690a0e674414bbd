import { type Clock, systemClock } from "../../../src/ports.ts";

/** The system's clock, whose time can be moved on, with all that waits for it: a time limit need not be sat out. */
export function leapingClock(): Clock & { leap(milliseconds: number): void } {
  const waiting = new Map<() => void, number>();
  let ahead = 0;
  const monotonic = (): number => systemClock.monotonic() + ahead;
  return {
    now: () => systemClock.now() + ahead,
    monotonic,
    schedule(callback, milliseconds, options) {
      const run = (): void => {
        stop();
        callback();
      };
      const end = systemClock.schedule(run, milliseconds, options);
      const stop = (): void => {
        waiting.delete(run);
        end();
      };
      waiting.set(run, monotonic() + milliseconds);
      return stop;
    },
    leap(milliseconds) {
      ahead += milliseconds;
      for (const [run, due] of [...waiting].sort(([, one], [, other]) => one - other)) {
        if (due <= monotonic() && waiting.has(run)) run();
      }
    },
  };
}
