/** The operator's config as it is now, whatever the clock does. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import type { RunnerEnv } from "../../../workers/env.ts";
import { Operator } from "../../../workers/operator/operator.ts";

describe("the operator's config", () => {
  test("is read again in its time, also when the clock is turned back", async () => {
    let text = JSON.stringify({ quotas: { runs: 1 } });
    const env = { CONFIG: { get: () => Promise.resolve(text) } } as unknown as RunnerEnv;
    const operator = new Operator(env);
    const runs = async () => (await operator.config()).quotas("acme").runs;
    const { now } = Date;
    try {
      const start = now();
      Date.now = () => start;
      assertEquals(await runs(), 1);
      text = JSON.stringify({ quotas: { runs: 2 } });
      Date.now = () => start + 4_999;
      assertEquals(await runs(), 1);
      Date.now = () => start - 60_000;
      assertEquals(await runs(), 2);
    } finally {
      Date.now = now;
    }
  });
});
