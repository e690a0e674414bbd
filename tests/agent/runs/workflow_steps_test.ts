/** Steps on a workflow: what the platform would do twice is unknown; what it cannot keep is kept. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { callOnce, createStoreMarker, StepUnknownError, workflowSteps } from "../../../src/agent/mod.ts";
import type { Steps, WorkflowStepLike } from "../../../src/agent/mod.ts";
import { createMemoryStore } from "../../../src/auth/mod.ts";

type Serializable<Value> =
  | string
  | number
  | boolean
  | null
  | undefined
  | { [Key in keyof Value]: Serializable<Value[Key]> };

/** The step of a workflow, in the form in which Cloudflare's types declare it (workers-types 4). */
declare abstract class CloudflareStep {
  do<Value extends Serializable<Value>>(name: string, callback: () => Promise<Value>): Promise<Value>;
  do<Value extends Serializable<Value>>(
    name: string,
    config: {
      retries?: { limit: number; delay: string | number; backoff?: "constant" | "linear" | "exponential" };
      timeout?: string | number;
    },
    callback: () => Promise<Value>,
  ): Promise<Value>;
  sleep: (name: string, duration: string | number) => Promise<void>;
  sleepUntil: (name: string, timestamp: Date | number) => Promise<void>;
  waitForEvent<Value extends Serializable<Value>>(
    name: string,
    options: { type: string; timeout?: string | number },
  ): Promise<{ payload: Readonly<Value>; timestamp: Date; type: string }>;
}

/** Fails to compile where Cloudflare's step does not fit. */
export const fits: (step: CloudflareStep) => WorkflowStepLike = (step) => step;

/** A workflow's step that forgets what threw, as the platform does, and can die in the middle of one. */
class Platform implements WorkflowStepLike {
  readonly kept: Map<string, string> = new Map();
  dieIn: string | undefined;
  readonly waited: unknown[] = [];

  async do(name: string, config: { retries?: { limit: number } }, callback: () => Promise<string>): Promise<string> {
    assertEquals(config.retries?.limit, 0);
    const kept = this.kept.get(name);
    if (kept !== undefined) return kept;
    const text = await callback();
    if (this.dieIn === name) throw new Error("the process died");
    this.kept.set(name, text);
    return text;
  }

  sleep(name: string, duration: number): Promise<void> {
    this.waited.push([name, duration]);
    return Promise.resolve();
  }

  waitForEvent(name: string, options: { type: string; timeout?: number }): Promise<{ payload: unknown }> {
    this.waited.push([name, options]);
    return Promise.resolve({ payload: 3, type: options.type });
  }
}

function make(): { platform: Platform; steps: Steps } {
  const platform = new Platform();
  const marker = createStoreMarker(createMemoryStore(), "an instance");
  return { platform, steps: workflowSteps(platform, marker) };
}

describe("steps on a workflow", () => {
  test("an interrupted step is unknown, and not done again; a repeatable one is", async () => {
    const { platform, steps } = make();
    let calls = 0;
    const call = () => Promise.resolve({ calls: ++calls });
    for (const repeatable of [false, true]) {
      const name = `repeatable ${repeatable}`;
      platform.dieIn = name;
      await steps.do(name, { repeatable }, call).catch(() => {});
      platform.dieIn = undefined;
    }
    const error = await assertRejects(() => steps.do("repeatable false", {}, call), StepUnknownError);
    assertEquals(error.step, "repeatable false");
    await assertRejects(() => steps.do("repeatable false", {}, call), StepUnknownError);
    assertEquals(await steps.do("repeatable true", { repeatable: true }, call), { calls: 3 });
    assertEquals(await steps.do("repeatable true", { repeatable: true }, call), { calls: 3 });
    assertEquals(calls, 3);
  });

  test("results and errors are the same after a restart", async () => {
    const { platform, steps } = make();
    let calls = 0;
    for (let times = 0; times < 2; times++) {
      assertEquals(await steps.do("nothing", {}, () => Promise.resolve(void calls++)), undefined);
      const error = await assertRejects(() =>
        steps.do("fails", {}, () => Promise.reject(new RangeError(`${++calls}`)))
      );
      assert(error instanceof Error);
      assertEquals([error.name, error.message], ["RangeError", "2"]);
    }
    await steps.sleep("nap", 5);
    assertEquals(await steps.waitForEvent("wait", { type: "paid", timeout: 7 }), { payload: 3 });
    assertEquals(platform.waited, [["nap", 5], ["wait", { type: "paid", timeout: 7 }]]);
  });

  test("marks of different runs and names are apart", async () => {
    const store = createMemoryStore();
    const [one, other] = [createStoreMarker(store, "a:b"), createStoreMarker(store, "a")];
    assertEquals(await one.mark("c"), true);
    assertEquals(await other.mark("b:c"), true);
    assertEquals(await one.mark("c"), false);
    await assertRejects(() => callOnce(one, "c", () => Promise.resolve()), StepUnknownError);
  });
});
