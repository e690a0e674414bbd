import { describe, test } from "node:test";
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import type { JsonValue } from "../../../src/protocol/json_rpc.ts";
import type { RequestContext } from "../../../src/server/definitions.ts";
import { type Asked, Bench, own, type Run, text } from "./support.ts";

/** A tool that waits between its steps, on the clock of the bench. */
function stepping(work: (context: RequestContext, pause: (milliseconds: number) => Promise<void>) => Promise<void>) {
  const run: Run = async (context) => {
    await work(context, (milliseconds) => new Promise((resolve) => void bench.clock.schedule(resolve, milliseconds)));
    return text("done");
  };
  const bench: Bench = new Bench({ "tools/call": run });
  return bench;
}

function steps({ notices }: Asked): (JsonValue | undefined)[] {
  return notices.map(({ params }) => params?.progress);
}

describe("progress", () => {
  test("goes out under the token, with its type (S-061)", async () => {
    const bench = stepping(async ({ progress }, pause) => {
      progress({ progress: 1, total: 2, message: "half" });
      await pause(100);
      progress({ progress: 2 });
    });
    for (const progressToken of ["t", 7, "7", 0, ""]) {
      const asked = bench.ask("tools/call", { meta: { progressToken } });
      await bench.clock.until(asked.answer);
      assertEquals(asked.notices, [
        {
          jsonrpc: "2.0",
          method: "notifications/progress",
          params: { progressToken, progress: 1, total: 2, message: "half" },
        },
        { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: 2 } },
      ]);
    }
  });

  test("goes nowhere without a token (S-061)", async () => {
    const bench = stepping(({ progress }) => Promise.resolve(progress({ progress: 1 })));
    const asked = bench.ask("tools/call");
    await asked.answer;
    assertEquals(asked.notices, []);
  });

  test("never falls, never stands still, and is always a number (S-061)", async () => {
    const bench = stepping(async ({ progress }, pause) => {
      for (const value of [1, 1, 0.5, NaN, Infinity, -1, 2, 2, 1.5, 2.5]) {
        progress({ progress: value });
        await pause(60);
      }
    });
    const asked = bench.ask("tools/call", { meta: { progressToken: 1 } });
    await bench.clock.until(asked.answer);
    assertEquals(steps(asked), [1, 2, 2.5]);
  });

  test("of a loop of ten thousand steps is some twenty a second, and the last one is told", async () => {
    const bench = stepping(async ({ progress }, pause) => {
      for (let step = 1; step <= 10_000; step++) {
        progress({ progress: step });
        await undefined;
        if (step % 1_000 === 0) await pause(100);
      }
      progress({ progress: 10_001 });
    });
    const asked = bench.ask("tools/call", { meta: { progressToken: 1 } });
    await bench.clock.until(asked.answer);
    const told = steps(asked) as number[];
    assertLessOrEqual(told.length, 5 + 20 + 2);
    assertEquals(told.at(-1), 10_001);
    assertEquals(told, [...told].sort((left, right) => left - right));
  });

  test("that came too soon is told a moment later, not only at the next", async () => {
    const bench = stepping(async ({ progress }, pause) => {
      for (let step = 1; step <= 8; step++) progress({ progress: step });
      await pause(10_000);
    });
    const asked = bench.ask("tools/call", { meta: { progressToken: 1 } });
    await bench.clock.settle();
    assertEquals(steps(asked), [1, 2, 3, 4, 5]);
    await bench.clock.advance(50);
    assertEquals(steps(asked), [1, 2, 3, 4, 5, 8]);
  });

  test("stops with the answer (S-061)", async () => {
    let kept: RequestContext | undefined;
    const bench = stepping((context) => {
      kept = context;
      for (let step = 1; step <= 8; step++) context.progress({ progress: step });
      return Promise.resolve();
    });
    const asked = bench.ask("tools/call", { meta: { progressToken: 1 } });
    await asked.answer;
    assertEquals(steps(asked).at(-1), 8);
    const { length } = asked.notices;
    kept?.progress({ progress: 9 });
    await bench.clock.advance(1_000);
    assertEquals(asked.notices.length, length);
    assertEquals(bench.clock.waiting, 0);
  });

  test("that waits is told before an error too", async () => {
    const bench = new Bench({
      "tools/call": ({ progress }) => {
        for (let step = 1; step <= 8; step++) progress({ progress: step });
        throw new Error("no");
      },
    });
    const asked = bench.ask("tools/call", { meta: { progressToken: 1 } });
    await asked.answer;
    assertEquals(steps(asked).at(-1), 8);
  });
});

describe("log messages", () => {
  const all = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
  const bench = new Bench({
    "tools/call": ({ log }) => {
      for (const level of all) log(level, { level }, "part");
      return text("done");
    },
  });

  test("are sent to nobody who did not ask (S-063)", async () => {
    const asked = bench.ask("tools/call");
    await asked.answer;
    assertEquals(asked.notices, []);
  });

  for (const [place, lowest] of all.entries()) {
    test(`from "${lowest}" on`, async () => {
      const asked = bench.ask("tools/call", { meta: { [own + "logLevel"]: lowest } });
      await asked.answer;
      assertEquals(asked.notices.map(({ params }) => params?.level), all.slice(place));
      assertEquals(asked.notices[0], {
        jsonrpc: "2.0",
        method: "notifications/message",
        params: { level: lowest, logger: "part", data: { level: lowest } },
      });
    });
  }

  test("of a level that is none are not sent, and none comes after the answer", async () => {
    let kept: RequestContext | undefined;
    const odd = new Bench({
      "tools/call": (context) => {
        kept = context;
        context.log("loud" as "info", "x");
        context.log("info", "y");
        return text("done");
      },
    });
    const asked = odd.ask("tools/call", { meta: { [own + "logLevel"]: "debug" } });
    await asked.answer;
    kept?.log("emergency", "late");
    assertEquals(asked.notices.map(({ params }) => params?.data), ["y"]);
    assert(asked.notices.every(({ params }) => params && !("logger" in params)));
  });
});
