import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { OverloadedError, TimeoutError } from "../../../mod.ts";
import { Limiter } from "../../../src/hub/connection/limiter.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

function create(most: number | "none", queue: number): { clock: VirtualClock; limiter: Limiter; order: string[] } {
  const clock = new VirtualClock();
  const limiter = new Limiter({ clock, most: most === "none" ? 1 : most, queue });
  limiter.paused = most === "none";
  return { clock, limiter, order: [] };
}

describe("places for calls", () => {
  test("who comes first is served first, and never more than there are places", async () => {
    const { clock, limiter, order } = create(2, 10);
    assertEquals([limiter.take(), limiter.take(), limiter.take()], [true, true, false]);
    const waiting = ["a", "b", "c"].map((name) =>
      limiter.wait({ milliseconds: 1_000 }).then(() => void order.push(name))
    );
    assertEquals([limiter.active, limiter.queued], [2, 3]);
    limiter.release();
    await clock.settle();
    assertEquals([order.join(), limiter.active, limiter.queued], ["a", 2, 2]);
    limiter.release();
    limiter.release();
    await Promise.all(waiting);
    assertEquals([order.join(), limiter.active, limiter.queued], ["a,b,c", 2, 0]);
    assertEquals(clock.waiting, 0);
  });

  test("a number of places that is none is one place", () => {
    for (const most of ["many", NaN, -1, 0, null]) {
      const { limiter } = create(most as number, 10);
      assertEquals([limiter.take(), limiter.take()], [true, false], String(most));
    }
  });

  test("too many that wait: the next one is sent away at once", async () => {
    const { clock, limiter } = create("none", 3);
    const waiting = [1, 2, 3].map(() => limiter.wait({ milliseconds: 1_000 }));
    const error = await assertRejects(() => limiter.wait({ milliseconds: 1_000 }), OverloadedError);
    assert(error instanceof OverloadedError);
    assertEquals([error.delivery, error.retryable], ["not-sent", true]);
    limiter.refuse(new Error("over"));
    assertEquals((await Promise.allSettled(waiting)).map(({ status }) => status), ["rejected", "rejected", "rejected"]);
    assertEquals([limiter.queued, clock.waiting], [0, 0]);
  });

  test("each waits under its own time, and leaves when it is called off", async () => {
    const { clock, limiter } = create("none", 10);
    const controller = new AbortController();
    const reason = { why: "a user's own" };
    const short = assertRejects(() => limiter.wait({ milliseconds: 10 }), TimeoutError);
    const aborted = limiter.wait({ milliseconds: 1_000, signal: controller.signal }).catch((error) => error);
    const long = assertRejects(() => limiter.wait({ milliseconds: 500 }), TimeoutError);
    await clock.advance(10);
    const error = await short;
    assert(error instanceof TimeoutError);
    assertEquals([error.milliseconds, error.delivery], [10, "not-sent"]);
    controller.abort(reason);
    assertEquals(await aborted, reason);
    assertEquals([limiter.queued, clock.waiting], [1, 1]);
    await clock.advance(490);
    await long;
    assertEquals([limiter.queued, limiter.active, clock.waiting], [0, 0, 0]);
  });

  test("who has a place hears of no abort any more, and pushes nobody out who waits", async () => {
    const { clock, limiter, order } = create(1, 10);
    const controller = new AbortController();
    await limiter.wait({ milliseconds: 1_000, signal: controller.signal });
    const second = limiter.wait({ milliseconds: 1_000 }).then(() => void order.push("second"));
    controller.abort(new Error("the first is over"));
    assertEquals(limiter.queued, 1);
    limiter.release();
    await second;
    assertEquals([order, limiter.active, clock.waiting], [["second"], 1, 0]);
  });

  test("where it goes on narrowly, one at a time gets a place, until it goes on as before", async () => {
    const { clock, limiter, order } = create(3, 10);
    limiter.paused = true;
    const waiting = ["a", "b", "c"].map((name) =>
      limiter.wait({ milliseconds: 1_000 }).then(() => void order.push(name))
    );
    limiter.resume(true);
    await clock.settle();
    assertEquals([order.join(), limiter.active, limiter.queued, limiter.take()], ["a", 1, 2, false]);
    limiter.resume();
    await Promise.all(waiting);
    assertEquals([order.join(), limiter.active], ["a,b,c", 3]);
  });

  test("a reason that is nothing still calls a wait off", async () => {
    const { limiter } = create("none", 10);
    const controller = new AbortController();
    const waiting = limiter.wait({ milliseconds: 1_000, signal: controller.signal });
    controller.abort(0);
    assertEquals(await waiting.then(() => "served", (reason) => reason), 0);
    assertEquals(limiter.active, 0);
  });

  test("while it is paused nobody gets a place", async () => {
    const { clock, limiter } = create(1, 10);
    limiter.paused = true;
    assertEquals(limiter.take(), false);
    const waiting = limiter.wait({ milliseconds: 1_000 });
    await clock.settle();
    assertEquals([limiter.active, limiter.queued], [0, 1]);
    limiter.resume();
    await waiting;
    assertEquals([limiter.active, limiter.queued], [1, 0]);
  });
});
