import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { endWhenQuiet } from "../../../src/cli/session/quiet.ts";
import { until } from "../../suites/spawn.ts";

/** A group whose processes have slept so often, as it is told look by look; the last one stays. The first look is before its input is closed. */
function group(looks: number[], members: (listed: number) => number[]): {
  view: Parameters<typeof endWhenQuiet>[2];
  seen: { looks: number; lists: number };
} {
  const seen = { looks: 0, lists: 0 };
  return {
    seen,
    view: {
      sleepsOf: () => looks[Math.min(seen.looks++, looks.length - 1)] ?? NaN,
      membersOf: () => members(seen.lists++),
    },
  };
}

/** How many looks a group is given before its end. */
async function looksUntilEnd({ view, seen }: ReturnType<typeof group>): Promise<number> {
  let [closed, ended] = [0, 0];
  endWhenQuiet(1, { closeInput: () => void (closed = seen.looks), end: () => void (ended ||= seen.looks) }, view);
  await until(() => ended > 0, "the end");
  assertEquals(closed, 1);
  return ended - closed;
}

describe("a program that is looked at", () => {
  test("is ended when three looks in a row find it asleep, and one more after its group was listed", async () => {
    assertEquals(await looksUntilEnd(group([4, 5], () => [1])), 4);
    assertEquals(await looksUntilEnd(group([NaN, 5], () => [1])), 4);
    assertEquals(await looksUntilEnd(group([5, 5, 6, NaN, NaN, 7, 7, 8], () => [1])), 10);
  });

  test("is given more time while it has not stirred: it may not have heard that its input was closed", async () => {
    assertEquals(await looksUntilEnd(group([...Array(60).fill(5), 6], () => [1])), 63);
    assertEquals(await looksUntilEnd(group([5], () => [1])), 102);
  });

  test("is not ended for what it did before its input was closed, which another thread may do late", async () => {
    const { seen, view } = group([5, NaN, 6, 6, 6, 6, 6, 7], () => [1]);
    // Closed when it has been looked at six times, by which it has stirred and slept long since.
    assertEquals(await looksUntilEnd({ seen, view: view && { ...view, watchOpen: () => () => seen.looks < 6 } }), 10);
  });

  test("is left alone when it wakes while its group is listed, before it has started what it will wait for", async () => {
    // Asleep in three looks, awake once it was listed; then it has started another one, which is at work for two looks.
    const woken = group([4, 5, 5, 5, NaN, 6, 6, 6, NaN, NaN, 9], (listed) => listed < 2 ? [1] : [1, 2]);
    assertEquals(await looksUntilEnd(woken), 13);
    // It was awake and sleeps again: it has slept once more.
    assertEquals(await looksUntilEnd(group([4, 5, 5, 5, 6], () => [1])), 8);
  });

  test("is not looked at any more once the waiting was given up", async () => {
    const { view, seen } = group([4, 5], () => [1]);
    let isEnded = false;
    const stop = endWhenQuiet(1, { closeInput: () => {}, end: () => void (isEnded = true) }, view);
    stop();
    await new Promise((resolve) => setTimeout(resolve, 30));
    assertEquals([isEnded, seen.looks], [false, 1]);
  });

  test(
    "is not taken for asleep while it is stopped: it may be at work",
    { skip: process.platform !== "linux" },
    async () => {
      const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      const { pid = 0 } = child;
      try {
        process.kill(pid, "SIGSTOP");
        await until(() => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, "utf8")), "its stop");
        let isEnded = false;
        const stop = endWhenQuiet(pid, { closeInput: () => {}, end: () => void (isEnded = true) });
        await new Promise((resolve) => setTimeout(resolve, 60));
        assertEquals(isEnded, false);
        process.kill(pid, "SIGCONT");
        await until(() => isEnded, "the end");
        stop();
      } finally {
        child.kill("SIGKILL");
      }
    },
  );
});
