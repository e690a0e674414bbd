/**
 * What is late because the program stood still.
 */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { connect, TimeoutError } from "../../mod.ts";
import { patientClock } from "../../src/ports.ts";
import type { Clock } from "../../src/ports.ts";

/** A clock that jumps: what falls due meanwhile rings afterwards, in its order. */
class JumpingClock implements Clock {
  #time = 0;
  readonly #timers = new Set<{ readonly at: number; readonly callback: () => void }>();

  get waiting(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#time;
  }

  monotonic(): number {
    return this.#time;
  }

  schedule(callback: () => void, milliseconds: number): () => void {
    const timer = { at: this.#time + Math.max(milliseconds, 0), callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Moves on at once, then gives each turn its time. */
  async jump(milliseconds: number): Promise<void> {
    this.#time += milliseconds;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      const [next] = [...this.#timers].filter(({ at }) => at <= this.#time).sort((one, other) => one.at - other.at);
      if (!next) return;
      this.#timers.delete(next);
      next.callback();
    }
  }
}

describe("a patient clock", () => {
  test("rings in time where the program was in time, and once a moment later where it stood still", async () => {
    const world = new JumpingClock();
    const clock = patientClock(world);
    const rung: number[] = [];
    const ring = (): void => void rung.push(clock.monotonic());
    clock.schedule(ring, 1_000);
    await world.jump(1_050);
    assertEquals(rung, [1_050]);
    clock.schedule(ring, 1_000);
    await world.jump(60_000);
    assertEquals([rung, world.waiting], [[1_050], 1]);
    // Also who is late all the time comes to an end.
    await world.jump(60_000);
    assertEquals([rung, world.waiting], [[1_050, 121_050], 0]);
    for (const odd of [0, -5_000, Infinity]) clock.schedule(ring, odd);
    await world.jump(10);
    assertEquals([rung.length, world.waiting], [4, 1]);
  });

  test("is called off before it is late, and after", async () => {
    const world = new JumpingClock();
    const clock = patientClock(world);
    let rung = 0;
    clock.schedule(() => rung++, 10)();
    const stop = clock.schedule(() => rung++, 10);
    await world.jump(60_000);
    assertEquals(world.waiting, 1);
    stop();
    await world.jump(60_000);
    assertEquals([rung, world.waiting], [0, 0]);
  });

  test("rings in the background where it was asked to, also a moment later", async () => {
    const world = new JumpingClock();
    const given: unknown[] = [];
    const clock = patientClock({
      now: () => world.now(),
      monotonic: () => world.monotonic(),
      schedule(callback, milliseconds, options) {
        given.push(options);
        return world.schedule(callback, milliseconds);
      },
    });
    clock.schedule(() => {}, 10, { background: true });
    await world.jump(60_000);
    assertEquals(given, Array(2).fill({ background: true }));
  });

  test("a call is given an answer that came while the program stood still, and takes some turns to be read", async () => {
    const world = new JumpingClock();
    const results: Record<string, object> = {
      "server/discover": { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } },
      "tools/call": { content: [] },
    };
    await using client = await connect("http://server.test/mcp", {
      clock: patientClock(world),
      async fetch(target, init) {
        const { id, method } = await new Request(target, init).json();
        if (method === "tools/call") await new Promise<void>((resolve) => void world.schedule(resolve, readAfter));
        return Response.json({ jsonrpc: "2.0", id, result: { resultType: "complete", ...results[method] } });
      },
    });
    const outcome = (): Promise<string> =>
      client.callTool("any", {}, { timeout: 1_000 }).then(
        () => "done",
        (error) => error instanceof TimeoutError ? "late" : "failed",
      );
    let readAfter = 60_010;
    const inTime = outcome();
    await world.jump(0);
    await world.jump(60_000);
    for (let turn = 0; turn < 6; turn++) await world.jump(5);
    assertEquals(await inTime, "done");
    readAfter = 60_200;
    const late = outcome();
    await world.jump(0);
    await world.jump(60_000);
    for (let turn = 0; turn < 6; turn++) await world.jump(5);
    assertEquals(await late, "late");
  });
});
