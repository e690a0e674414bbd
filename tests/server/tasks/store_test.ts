/** Where tasks are kept: the store in memory, and one store that several servers share. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../mod.ts";
import { createMemoryTaskStore, createTasks, TaskStoreFullError } from "../../../src/server/mod.ts";
import type { TaskRecord } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, withPlace } from "./served.ts";

function record(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: 0, updatedAt: 0, ttl: 1_000, pollInterval: 100 };
  return { taskId, owner: "ada", era: "legacy", version: 1, status: "working", ...times, ...more };
}

describe("the store in memory", () => {
  test("replaces a record only when nobody did so before", async () => {
    const store = createMemoryTaskStore();
    await store.create(record("a"));
    assertEquals(await store.replace(record("a", { version: 2, status: "completed" })), true);
    assertEquals(await store.replace(record("a", { version: 2, status: "cancelled" })), false);
    assertEquals(await store.replace(record("b", { version: 2 })), false);
    assertEquals((await store.get("a"))?.status, "completed");
  });

  test("forgets the oldest one that has ended for a new one, and never one that runs", async () => {
    const store = createMemoryTaskStore({ max: 2 });
    await store.create(record("a"));
    await store.create(record("b", { status: "failed" }));
    await store.create(record("c"));
    assertEquals([await store.get("b"), (await store.get("a"))?.taskId], [undefined, "a"]);
    await assertRejects(() => store.create(record("d")), TaskStoreFullError);
  });

  test("forgets what has ended and is over its time when a new one comes", async () => {
    const store = createMemoryTaskStore();
    await store.create(record("over", { status: "completed" }));
    await store.create(record("running"));
    await store.create(record("longer", { status: "completed", ttl: 1_001 }));
    await store.create(record("new", { createdAt: 1_000 }));
    const left = await Promise.all(["over", "running", "longer", "new"].map((taskId) => store.get(taskId)));
    assertEquals(left.map((kept) => kept?.taskId), [undefined, "running", "longer", "new"]);
  });

  test("lists those of one owner in pages, also when one of them goes meanwhile", async () => {
    const store = createMemoryTaskStore();
    for (const taskId of ["a", "b", "c"]) await store.create(record(taskId));
    await store.create(record("x", { owner: "eve" }));
    const first = await store.list("ada", undefined, 2);
    await store.delete("b");
    const second = await store.list("ada", first?.next, 2);
    assertEquals([first, second].map((page) => page?.records.map(({ taskId }) => taskId)), [["a", "b"], ["c"]]);
    assertEquals([second?.next, await store.list("ada", "b", 2)], [undefined, undefined]);
  });

  test("options that make no sense are refused", () => {
    for (const max of [0, 1.5, NaN]) assertThrows(() => createMemoryTaskStore({ max }), RangeError);
    const wrong = [{ ttl: 0 }, { maxTtl: 2 ** 31 }, { maxRunning: 0.5 }, { pollInterval: -1 }];
    for (const options of wrong) assertThrows(() => createTasks(options), RangeError, Object.keys(options)[0]);
  });
});

describe("one store for two servers", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`${era}: the other one tells how a task stands, waits for its result and cancels it`, async () => {
      const store = createMemoryTaskStore();
      const clock = new VirtualClock();
      const { server, held } = createServer();
      const own = () => createTasks({ store, pollInterval: 300 });
      await withPlace({ era, clock, server, tasks: own() }, async (here) => {
        await withPlace({ era, clock, tasks: own() }, async (there) => {
          const first = await here.client.callToolTask("hold");
          const far = await there.client.getTask(first.taskId);
          assertEquals(far.task.status, "working");
          const result = far.result();
          await clock.settle();
          held.release("over there");
          assertEquals((await clock.until(result)).content, [{ type: "text", text: "over there" }]);
          const second = await here.client.callToolTask("hold");
          await there.client.cancelTask(second.taskId);
          held.release("too late");
          await clock.settle();
          assertEquals((await second.get()).status, "cancelled");
        });
      });
    });
  }

  test("a caller's list has pages, and shows what tasks/get shows", () =>
    withPlace({ era: "legacy", user: "ada", tasks: createTasks({ maxRunning: 500 }) }, async ({ client, post }) => {
      await client.listTools();
      const began: string[] = [];
      for (let count = 0; count < 120; count++) began.push((await client.callToolTask("quick")).taskId);
      const listed = await client.listTasks();
      assertEquals(listed.map(({ taskId }) => taskId), began);
      assertEquals(listed.at(-1), (await client.getTask(began.at(-1) as string)).task);
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "eve", version: "1" } };
      await post("initialize", params, { user: "eve" });
      const { result } = await post("tasks/list", {}, { user: "eve" });
      assertEquals((result as JsonObject).tasks, []);
      const { error } = await post("tasks/get", { taskId: began[0] as string }, { user: "eve" });
      assertEquals((error as JsonObject).code, -32602);
    }));
});
