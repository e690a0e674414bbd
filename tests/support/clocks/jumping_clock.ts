import type { Clock } from "../../../src/ports.ts";

/** That clock, whose date can be set ahead or back; what is timed goes on. */
export function jumpingClock(clock: Clock): Clock & { ahead: number } {
  const jumping = {
    ahead: 0,
    now: () => clock.now() + jumping.ahead,
    monotonic: () => clock.monotonic(),
    schedule: clock.schedule.bind(clock),
  };
  return jumping;
}
