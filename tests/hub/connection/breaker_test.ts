import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { backoff } from "../../../src/hub/connection/backoff.ts";
import { Breaker } from "../../../src/hub/connection/breaker.ts";
import { systemRandom } from "../../../src/ports.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const random = (fraction: number) => ({ ...systemRandom, fraction: () => fraction });

describe("the breaker", () => {
  test("opens with the fifth failure in a row, and not when something worked in between", () => {
    const breaker = new Breaker({ clock: new VirtualClock(), random: random(0.5) });
    for (let round = 0; round < 3; round++) {
      assertEquals([1, 2, 3, 4].map(() => breaker.failed()), [false, false, false, false]);
      breaker.worked();
    }
    assertEquals([1, 2, 3, 4, 5].map(() => breaker.failed()), [false, false, false, false, true]);
    assertEquals(breaker.until, 30_000);
  });

  test("each probe that fails doubles the pause, up to five minutes, and one decides", async () => {
    const clock = new VirtualClock();
    const breaker = new Breaker({ clock, random: random(0.5) });
    const pauses: number[] = [];
    for (let failures = 0; failures < 10; failures++) {
      if (!breaker.failed()) continue;
      const pause = breaker.until - clock.monotonic();
      pauses.push(pause);
      await clock.advance(pause);
    }
    assertEquals(pauses, [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  test("the pause is spread by a fifth, and never longer than five minutes", () => {
    for (const fraction of [0, 0.25, 0.999]) {
      const breaker = new Breaker({ clock: new VirtualClock(), random: random(fraction) });
      for (let failures = 0; failures < 5; failures++) breaker.failed();
      const factor = 1 + 0.2 * (2 * fraction - 1);
      assert(Math.abs(breaker.until - 30_000 * factor) < 1e-6, `${breaker.until}`);
      for (let failures = 0; failures < 8; failures++) breaker.failed();
      assert(breaker.until > 230_000);
      assert(breaker.until <= 300_000, `${breaker.until}`);
    }
  });

  test("what fails together counts once", () => {
    const breaker = new Breaker({ clock: new VirtualClock(), random: random(0.5) });
    const { turn } = breaker;
    assertEquals(Array.from({ length: 50 }, () => breaker.failed(turn)).includes(true), false);
    for (let count = 0; count < 3; count++) assertEquals(breaker.failed(breaker.turn), false);
    assertEquals(breaker.failed(breaker.turn), true);
  });

  test("what was begun before another failure, and fails a second after it, is a failure of its own", async () => {
    const clock = new VirtualClock();
    const breaker = new Breaker({ clock, random: random(0.5) });
    const { turn } = breaker;
    await clock.advance(5_000);
    assertEquals([breaker.failed(turn), breaker.turn], [false, turn + 1]);
    await clock.advance(999);
    assertEquals([breaker.failed(turn), breaker.turn], [false, turn + 1]);
    await clock.advance(1);
    assertEquals([breaker.failed(turn), breaker.turn], [false, turn + 2]);
  });

  test("a server that fails again soon is given a longer pause, one that had a good minute starts over", async () => {
    const clock = new VirtualClock();
    const breaker = new Breaker({ clock, random: random(0.5) });
    const open = () => {
      while (!breaker.failed());
      return breaker.until - clock.monotonic();
    };
    assertEquals(open(), 30_000);
    await clock.advance(30_000);
    breaker.worked();
    assertEquals(open(), 60_000);
    await clock.advance(60_000 + 60_000);
    breaker.worked();
    assertEquals(open(), 30_000);
  });

  test("what nobody asked for: as one likes while nothing failed, then four and one each half minute, whatever works", async () => {
    const clock = new VirtualClock();
    const breaker = new Breaker({ clock, random: random(0.5) });
    const granted = (count: number) => Array.from({ length: count }, () => breaker.may()).filter(Boolean).length;
    assertEquals([breaker.isCalm, granted(20)], [true, 20]);
    breaker.failed();
    breaker.worked();
    assertEquals([breaker.isCalm, granted(20)], [false, 4]);
    await clock.advance(29_000);
    assertEquals(granted(20), 0);
    await clock.advance(1_000);
    assertEquals(granted(20), 1);
    // A server that is called often, and works mostly, gets more.
    for (let count = 0; count < 25; count++) breaker.worked();
    assertEquals(granted(20), 2);
    await clock.advance(600_000);
    assertEquals([breaker.isCalm, granted(20)], [true, 20]);
  });

  test("a request is not sent again at the expense of the question whether the server is back", () => {
    const breaker = new Breaker({ clock: new VirtualClock(), random: random(0.5) });
    const repeats = Array.from({ length: 50 }, () => breaker.mayRepeat());
    assertEquals(repeats.filter(Boolean).length, 2);
    assertEquals([breaker.isCalm, ...[1, 2, 3].map(() => breaker.may())], [false, true, true, false]);
  });
});

test("a retry waits for anything up to a second, doubled each time, up to five minutes", () => {
  const most = [1, 2, 3, 4, 9, 10, 2_000].map((attempt) => backoff(attempt, 1_000, random(1)));
  assertEquals(most, [1_000, 2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
  assertEquals(backoff(3, 1_000, random(0)), 0);
  assertEquals(backoff(2, 10, random(0.5)), 10);
});
