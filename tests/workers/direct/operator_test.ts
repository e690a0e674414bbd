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

  test("that was read later is not undone by what is read more slowly", async () => {
    const reads: ((runs: number) => void)[] = [];
    const get = () =>
      new Promise<string>((resolve) => reads.push((runs) => resolve(JSON.stringify({ quotas: { runs } }))));
    const operator = new Operator({ CONFIG: { get } } as unknown as RunnerEnv);
    const runs = async () => (await operator.config()).quotas("acme").runs;
    const [slow, quick] = [runs(), runs()];
    reads[1]?.(2);
    assertEquals(await quick, 2);
    reads[0]?.(1);
    assertEquals([await slow, await runs()], [2, 2]);
  });
});
