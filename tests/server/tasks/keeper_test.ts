/** Two processes with one store: what one does to a task of the other. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createStateSealer, createTaskStore, McpServer } from "../../../src/server/mod.ts";
import { createParts } from "../../../src/server/parts.ts";
import { TaskKeeper } from "../../../src/server/tasks/keeper.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const lease = 30_000;

function twoKeepers(): { clock: VirtualClock; here: TaskKeeper; there: TaskKeeper } {
  const clock = new VirtualClock();
  const texts = new TestStore();
  const { methods } = new McpServer({ name: "tasks", version: "1.0.0" });
  const bounds = { ttl: 600_000, maxTtl: 600_000, maxRunning: 4, pollInterval: 1_000, lease, waitUntil: undefined };
  const create = () =>
    new TaskKeeper(
      { store: createTaskStore(texts, { clock }), ...bounds },
      createParts(methods, { clock, state: createStateSealer }),
    );
  return { clock, here: create(), there: create() };
}

describe("a task that another process cancels", () => {
  test("is stopped, and who listens where it runs is told", async () => {
    const { clock, here, there } = twoKeepers();
    let reason: unknown;
    const told: string[] = [];
    const { taskId } = await here.begin({
      owner: "ada",
      era: "modern",
      run: (run) =>
        new Promise((_resolve, reject) => {
          run.signal.addEventListener("abort", () => reject(reason = run.signal.reason));
        }),
      toError: () => ({ code: -32603, message: "stopped" }),
      changed: ({ status }) => void told.push(status),
    });
    assertEquals((await there.cancel(taskId))?.status, "cancelled");
    await clock.advance(lease);
    assertEquals([reason instanceof DOMException, here.running(taskId)], [true, undefined]);
    assertEquals(told, ["cancelled"]);
    // Nobody listens any more, and no clock beats for it.
    await clock.advance(lease);
    assertEquals([told, clock.waiting], [["cancelled"], 0]);
  });

  test("and has ended all the same is told as it is kept", async () => {
    const { clock, here, there } = twoKeepers();
    let finish = (_result: { content: [] }): void => {};
    const told: string[] = [];
    const { taskId } = await here.begin({
      owner: "ada",
      era: "modern",
      run: () => new Promise((resolve) => finish = resolve),
      toError: () => ({ code: -32603, message: "stopped" }),
      changed: ({ status }) => void told.push(status),
    });
    await there.cancel(taskId);
    finish({ content: [] });
    await clock.settle();
    assertEquals([told, here.running(taskId)], [["cancelled"], undefined]);
    assertEquals((await there.find(taskId, "modern", "ada"))?.status, "cancelled");
  });
});
