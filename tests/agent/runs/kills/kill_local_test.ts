/**
 * Two processes over one file, killed with SIGKILL: at random moments and at each labelled point, on Bun, Deno and Node. Ten random
 * kills and one at each point, and 3 while 100 runs are under way; `CAUSEWAY_KILLS=full` makes them 100, 20, and 10 of 200.
 */
import { assert } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { describe, test } from "node:test";
import { endProcess } from "../../../../tools/process.ts";
import { points } from "../support/points.ts";
import { eventsOf, secret } from "../support/runs.ts";
import { checkTail } from "./ledger.ts";
import { idOf } from "./plan.ts";
import { countUnderWay, judge, kill, type Place, withPlace } from "./place.ts";

const isFull = process.env["CAUSEWAY_KILLS"] === "full";
const [randomKills, killsAtPoint] = isFull ? [100, 20] : [10, 1];
const crowd = isFull ? { runs: 200, kills: 10 } : { runs: 100, kills: 3 };
const skip = "Bun" in globalThis ? false : "Bun kills the processes of all three runtimes";
const options = { skip, timeout: isFull ? 900_000 : 60_000 };

/** Whether a process ends by itself within a time. */
async function endsWithin(child: ChildProcess, milliseconds: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return true;
  const late = new Promise<boolean>((resolve) => void setTimeout(() => resolve(false), milliseconds));
  return await Promise.race([once(child, "exit").then(() => true), late]);
}

describe("processes that are killed", () => {
  test("another process goes on within the watchdog's interval", options, async () => {
    // The interval is of one second. In the short form other tests keep the machine busy: one of three is in time.
    const most = isFull ? 2_000 : 3_000;
    const times: number[] = [];
    const goOn = async (place: Place): Promise<void> => {
      const other = await place.start(0);
      const first = await place.start(1);
      await place.accept(1);
      const reader = await place.openReader();
      let killed = 0;
      for await (const { event, at } of reader.events(idOf(0))) {
        if (killed > 0 && at > killed) {
          times.push(at - killed);
          killed = Infinity;
        }
        if (event.type === "usage" && event.step === 1) {
          endProcess(first);
          killed = Date.now() + 5;
        }
      }
      assert(killed === Infinity && other.exitCode === null, "one was killed, the other is there");
      await judge(place, "bun, one kill", [], reader);
      await reader.close();
    };
    do await withPlace("bun", {}, goOn); while (times.length < (isFull ? 1 : 3) && Math.min(...times) >= most);
    assert(Math.min(...times) < most, `it went on after ${times} ms`);
  });

  test(`${crowd.runs} runs of 20 steps at once, sealed, and ${crowd.kills} kills`, options, async () => {
    await withPlace("bun", { rounds: 10, secret, patience: isFull ? 300_000 : 40_000 }, async (place) => {
      const keepers = [await place.start(crowd.runs / 2), await place.start(crowd.runs / 2)];
      await place.accept(crowd.runs);
      const reader = await place.openReader();
      const tails = [0, crowd.runs - 1].map((at) => eventsOf(reader, idOf(at)));
      let begun = crowd.runs;
      const renew = async (at: number): Promise<void> => {
        await kill(keepers[at]);
        keepers[at] = await place.start(10);
        await place.accept(begun += 10);
      };
      for (let kills = 0; kills < crowd.kills; kills++) {
        // Some are under way at each kill, however quick this machine is.
        for (let more = 0; await countUnderWay(reader) === 0; more++) {
          assert(more < 20, "all runs end at once");
          await renew(kills % 2);
        }
        await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 100));
        await renew(kills % 2);
      }
      await judge(place, `bun, ${crowd.runs} runs at once, ${crowd.kills} kills`, [], reader);
      for (const [at, tail] of tails.entries()) {
        checkTail(await tail, await eventsOf(reader, idOf(at === 0 ? 0 : crowd.runs - 1)));
      }
      await reader.close();
    });
  });

  for (const runtime of ["bun", "deno", "node"]) {
    test(`${runtime}: ${randomKills} kills at random, two processes over one file`, options, async () => {
      await withPlace(runtime, { secret }, async (place) => {
        const keepers = [await place.start(4), await place.start(4)];
        const reader = await place.openReader();
        await place.accept(2);
        const tails = [0, 1].map((at) => eventsOf(reader, idOf(at)));
        for (let kills = 0; kills < randomKills; kills++) {
          await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 200));
          const victim = kills % 2;
          await kill(keepers[victim]);
          keepers[victim] = await place.start(2);
        }
        await judge(place, `${runtime}, ${randomKills} random kills`, tails, reader);
        await reader.close();
      });
    });

    test(`${runtime}: ${killsAtPoint} kills at each of ${points.length} labelled points`, options, async () => {
      await withPlace(runtime, {}, async (place) => {
        let reached = 0;
        let survivor = await place.start(1);
        for (const point of points) {
          for (let nth = 1; nth <= killsAtPoint; nth++) {
            const victim = await place.start(2, { point, nth: point === "alarm arm" ? 1 : 1 + nth % 6 }).catch(() =>
              undefined
            );
            // Where the other process was faster, the point is not reached: then it is a kill like any other.
            if (!victim || await endsWithin(victim, 6_000)) reached++;
            else endProcess(victim);
          }
          // The one that is left is changed too, so that it does not do all of the work.
          endProcess(survivor);
          survivor = await place.start(1);
        }
        const reader = await place.openReader();
        const kills = killsAtPoint * points.length;
        assert(reached >= kills * 0.8, `${reached} of ${kills} were killed at their point`);
        await judge(place, `${runtime}, ${reached} of ${kills} kills at points`, [], reader);
        await reader.close();
      });
    });
  }
});
