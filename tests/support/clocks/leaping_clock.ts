import { type Clock, systemClock } from "../../../src/ports.ts";

/** The system's clock, whose time can be moved on: what waits for a time-out need not sit it out. */
export function leapingClock(): Clock & { leap(milliseconds: number): void } {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    monotonic: () => systemClock.monotonic() + ahead,
    schedule: systemClock.schedule.bind(systemClock),
    leap: (milliseconds) => void (ahead += milliseconds),
  };
}
