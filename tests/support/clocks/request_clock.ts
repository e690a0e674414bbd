import type { Clock } from "../../../src/ports.ts";

/** The clock of requests of a Worker: while `isDead`, as that of one that was ended, its timers never come. */
export function requestClock(clock: Clock): Clock & { isDead: boolean } {
  const request: Clock & { isDead: boolean } = {
    isDead: true,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule: (work, milliseconds) => request.isDead ? () => {} : clock.schedule(work, milliseconds),
  };
  return request;
}
