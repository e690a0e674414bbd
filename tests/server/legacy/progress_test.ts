import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { held } from "./support.ts";

/** A session with a call that ends when the test says so. */
function call(revision?: string, meta: Record<string, unknown> = { progressToken: "t" }) {
  return held({ revision }, { _meta: meta as never });
}

describe("progress", () => {
  test("goes to the token, rising only", async () => {
    const { context, notices, clock, finish, answer } = await call();
    for (const progress of [1, 1, 0.5, NaN, Infinity, 2]) {
      context.progress({ progress, total: 9, message: "on it" });
      await clock.advance(50);
    }
    assertEquals(notices.map(({ params }) => params), [
      { progressToken: "t", progress: 1, total: 9, message: "on it" },
      { progressToken: "t", progress: 2, total: 9, message: "on it" },
    ]);
    finish();
    await answer;
    context.progress({ progress: 3 });
    assertEquals(notices.length, 2);
  });

  test("is told at most about twenty times a second, and the last one is not lost", async () => {
    const { context, notices, clock, finish, answer } = await call();
    for (let step = 1; step <= 1_000; step++) {
      context.progress({ progress: step });
      if (step % 10 === 0) await clock.advance(10);
    }
    const values = notices.map(({ params }) => params?.progress as number);
    assertEquals(values.length >= 19 && values.length <= 21, true, `${values.length}`);
    context.progress({ progress: 1_001 });
    finish();
    await answer;
    assertEquals(notices.at(-1)?.params?.progress, 1_001);
    assertEquals(clock.waiting, 0);
  });

  test("what waits is told when its time has come", async () => {
    const { context, notices, clock } = await call();
    context.progress({ progress: 1 });
    context.progress({ progress: 2 });
    context.progress({ progress: 3 });
    await clock.advance(49);
    assertEquals(notices.length, 1);
    await clock.advance(1);
    assertEquals(notices.map(({ params }) => params?.progress), [1, 3]);
  });

  test("is not told to who did not ask, nor when the call was called off", async () => {
    for (const meta of [{}, { progressToken: null }, { progressToken: {} }]) {
      const { context, notices } = await call(undefined, meta);
      context.progress({ progress: 1 });
      assertEquals(notices, []);
    }
    const { context, notices, session, answer } = await call();
    context.progress({ progress: 1 });
    context.progress({ progress: 2 });
    session.notified({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
    await answer;
    assertEquals(notices.length, 1);
  });

  test("has no message before 2025-03-26", async () => {
    const { context, notices } = await call("2024-11-05", { progressToken: 0 });
    context.progress({ progress: 1, message: "on it" });
    assertEquals(notices.map(({ params }) => params), [{ progressToken: 0, progress: 1 }]);
  });
});
