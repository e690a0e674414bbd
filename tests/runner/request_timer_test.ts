import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { RequestTimer } from "../../src/runner/rest/request_timer.ts";
import { VirtualClock } from "../support/virtual_clock.ts";

/** What was called, and when. */
function started(): {
  clock: VirtualClock;
  timer: RequestTimer;
  calls: [string, number][];
  note(name: string): () => void;
} {
  const clock = new VirtualClock();
  const calls: [string, number][] = [];
  const note = (name: string) => () => void calls.push([name, clock.monotonic()]);
  return { clock, timer: new RequestTimer(clock), calls, note };
}

describe("the timer of one request", () => {
  it("calls each thing at its time, with one timer of the runtime", async () => {
    const { clock, timer, calls, note } = started();
    timer.schedule(note("late"), 60_000);
    timer.schedule(note("soon"), 1_500);
    timer.schedule(note("at once"), 0);
    assertEquals(clock.waiting, 1);
    await clock.advance(59_999);
    assertEquals([calls, clock.waiting], [[["at once", 0], ["soon", 1_500]], 1]);
    await clock.advance(1);
    assertEquals([calls.at(-1), clock.waiting], [["late", 60_000], 0]);
  });

  it("calls nothing that was called off, and stops when nothing is left", async () => {
    const { clock, timer, calls, note } = started();
    const stops = Array.from({ length: 20 }, (_, at) => timer.schedule(note(String(at)), 5_000));
    for (const stop of stops.slice(1)) stop();
    timer.schedule(note("more"), 6_000)();
    await clock.advance(10_000);
    assertEquals([calls, clock.waiting], [[["0", 5_000]], 0]);
  });

  it("takes what is scheduled while something is called", async () => {
    const { clock, timer, calls, note } = started();
    timer.schedule(() => {
      note("first")();
      timer.schedule(note("second"), 10);
    }, 100);
    await clock.advance(200);
    assertEquals(calls, [["first", 100], ["second", 110]]);
  });

  it("calls nothing after its end, and leaves no timer behind", async () => {
    const { clock, timer, calls, note } = started();
    timer.schedule(note("never"), 10);
    timer.end();
    assertEquals(clock.waiting, 0);
    await clock.advance(1_000);
    assertEquals(calls, []);
  });
});
