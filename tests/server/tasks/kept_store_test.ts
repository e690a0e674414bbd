/** Tasks over a `Store`: what is kept, what comes back after a restart, and what becomes of tasks whose process has died. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import type { JsonObject } from "../../../mod.ts";
import { createTasks, createTaskStore, TaskStoreFullError } from "../../../src/server/mod.ts";
import type { Store } from "../../../src/ports.ts";
import type { TaskRecord } from "../../../src/server/mod.ts";
import { TestStore } from "../../support/test_store.ts";
import { requestClock } from "../../support/clocks/request_clock.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, withPlace } from "./served.ts";

function record(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: 0, updatedAt: 0, ttl: 10_000, pollInterval: 100 };
  return { taskId, owner: "ada", era: "legacy", version: 1, status: "working", ...times, ...more };
}

function createStore(max?: number) {
  const texts = new TestStore();
  const clock = new VirtualClock(0);
  return { texts, clock, store: createTaskStore(texts, { clock, max }) };
}

describe("tasks over a store", () => {
  test("another process finds what was written", async () => {
    const { store, texts, clock } = createStore();
    const result = { content: [{ type: "text", text: "grüße" }] };
    await store.create(record("a"));
    await store.replace(record("a", { version: 2, status: "completed", result }));
    const other = createTaskStore(texts, { clock });
    assertEquals(await other.get("a"), record("a", { version: 2, status: "completed", result }));
    assertEquals((await other.list("ada", undefined, 10))?.records.map(({ taskId }) => taskId), ["a"]);
    await other.delete("a");
    await other.delete("a");
    assertEquals([await store.get("a"), texts.texts.size], [undefined, 0]);
  });

  test("a request that a Worker has ended in the middle of a change does not hold the next ones up", async () => {
    const texts = new TestStore();
    const virtual = new VirtualClock(0);
    const clock = requestClock(virtual);
    const lost: Store = {
      get: (key) => clock.isDead ? new Promise<never>(() => {}) : texts.get(key),
      set: (key, value) => texts.set(key, value),
      delete: (key) => texts.delete(key),
    };
    const store = createTaskStore(lost, { clock, timeout: 1_000 });
    void store.create(record("a"));
    await virtual.settle();
    clock.isDead = false;
    await virtual.until(Promise.all([store.create(record("b")), store.create(record("c"))]), 60_000);
    // What begins at once stands in any order.
    const listed = (await store.list("ada", undefined, 10))?.records.map(({ taskId }) => taskId);
    assertEquals(listed?.sort(), ["b", "c"]);
    assertEquals(virtual.waiting, 0);
  });

  test("of two changes at once one wins", async () => {
    const { store } = createStore();
    await store.create(record("a"));
    const done = await Promise.all(
      (["completed", "failed", "cancelled"] as const).map((status) =>
        store.replace(record("a", { version: 2, status }))
      ),
    );
    assertEquals(done, [true, false, false]);
    assertEquals((await store.get("a"))?.status, "completed");
    assertEquals(await store.replace(record("none", { version: 2 })), false);
  });

  test("tasks that begin at once are all listed, in pages, each to its owner", async () => {
    const { store, texts } = createStore();
    const names = ["a", "b", "c", "d", "e"];
    await Promise.all(names.map((taskId) => store.create(record(taskId))));
    await store.create(record("x", { owner: "eve" }));
    await store.create(record("y", { owner: null }));
    const namesOf = (page: Awaited<ReturnType<typeof store.list>>) => page?.records.map(({ taskId }) => taskId) ?? [];
    // What begins at once stands in any order, and stays in it.
    const order = namesOf(await store.list("ada", undefined, 9));
    assertEquals([...order].sort(), names);
    const first = await store.list("ada", undefined, 2);
    const gone = order[1] ?? "";
    await store.delete(gone);
    const second = await store.list("ada", first?.next, 2);
    const third = await store.list("ada", second?.next, 2);
    assertEquals([first, second, third].map(namesOf), [order.slice(0, 2), order.slice(2, 4), order.slice(4)]);
    assertEquals([third?.next, await store.list("ada", gone, 2)], [undefined, undefined]);
    assertEquals((await store.list("eve", undefined, 9))?.records.length, 1);
    assert([...texts.texts.keys()].every((key) => key.startsWith("mcp-task:") && !key.includes("eve")));
  });

  test("a task is forgotten when its time has passed, asked for or not", async () => {
    const { store, texts, clock } = createStore();
    for (const taskId of ["a", "b"]) await store.create(record(taskId));
    await clock.advance(10_000);
    assertEquals([await store.get("a"), (await store.list("ada", undefined, 9))?.records], [undefined, []]);
    await store.create(record("c", { createdAt: 10_000 }));
    assertEquals([...texts.texts.keys()].filter((key) => key.startsWith("mcp-task:task:")), ["mcp-task:task:c"]);
  });

  test("a full list forgets the oldest one that has ended, and never one that runs", async () => {
    const { store } = createStore(2);
    await store.create(record("a"));
    await store.create(record("b", { status: "failed" }));
    await store.create(record("c"));
    assertEquals([await store.get("b"), (await store.get("a"))?.taskId], [undefined, "a"]);
    await assertRejects(() => store.create(record("d")), TaskStoreFullError);
    await store.create(record("e", { owner: "eve" }));
  });

  test("what is no task is forgotten for a new one when the list is full", async () => {
    const { texts, store } = createStore(2);
    await store.create(record("a"));
    await store.create(record("b"));
    await texts.set("mcp-task:task:a", '{"taskId":"a"}');
    await store.create(record("c"));
    assertEquals((await store.list("ada", undefined, 9))?.records.map(({ taskId }) => taskId), ["b", "c"]);
    assertEquals(await store.get("a"), undefined);
  });

  test("what is no task is told, and does not hide the others", async () => {
    const { store, texts } = createStore();
    for (const taskId of ["a", "b"]) await store.create(record(taskId));
    for (
      const text of ["", "{", "null", "[]", '{"taskId":"b"}', JSON.stringify(record("a", { era: "x" as "legacy" }))]
    ) {
      texts.texts.set("mcp-task:task:a", text);
      await assertRejects(() => store.get("a"), Error, "is no task");
    }
    assertEquals((await store.list("ada", undefined, 9))?.records.map(({ taskId }) => taskId), ["b"]);
    await store.delete("a");
    assertEquals(await store.get("a"), undefined);
    for (const key of texts.texts.keys()) if (key.includes("owner")) texts.texts.set(key, "{}");
    await assertRejects(() => store.create(record("c")), Error, "is no list");
  });

  test("a store is not asked for what cannot be an id", async () => {
    const { store, texts } = createStore();
    for (const taskId of ["", "../../etc/passwd", "a/b", "a b", "a\0", "x".repeat(129)]) {
      assertEquals(await store.get(taskId), undefined);
      assertEquals(await store.replace(record(taskId, { version: 2 })), false);
      await store.delete(taskId);
    }
    assertEquals(texts.reads, 0);
  });

  test("a store that says null where there is nothing has nothing", async () => {
    const { store, texts } = createStore();
    const get = texts.get.bind(texts);
    texts.get = async (key) => await get(key) ?? null as unknown as undefined;
    assertEquals(await store.get("a"), undefined);
    await store.create(record("a"));
    assertEquals((await store.get("a"))?.taskId, "a");
  });

  test("a store that fails or hangs is told in time", async () => {
    const { store, texts, clock } = createStore();
    texts.mood = "fails";
    await assertRejects(() => store.create(record("a")), Error, "on fire");
    texts.mood = "hangs";
    const late = assertRejects(() => store.get("a"), Error, "longer than 5000 ms");
    await clock.advance(5_000);
    await late;
    texts.mood = "well";
    await store.create(record("a"));
    assertEquals((await store.get("a"))?.taskId, "a");
  });

  test("options that make no sense are refused", () => {
    for (const options of [{ max: 0 }, { max: 1.5 }, { timeout: 0 }]) {
      assertThrows(() => createTaskStore(new TestStore(), options), RangeError, Object.keys(options)[0]);
    }
    assertThrows(() => createTasks({ lease: 0 }), RangeError, "lease");
  });
});

for (const era of ["modern", "legacy"] as const) {
  describe(`a restart, ${era}`, () => {
    /** A process of its own over what is kept. */
    const process = (texts: TestStore, clock: VirtualClock) =>
      createTasks({ store: createTaskStore(texts, { clock }), pollInterval: 200, lease: 30_000 });

    test("what has ended can still be read; what ran has failed as soon as its lease is over", async () => {
      const texts = new TestStore();
      const clock = new VirtualClock();
      const { server, held } = createServer();
      const ids: string[] = [];
      const snapshot = new Map<string, string>();
      const setting = {
        era,
        clock,
        user: "ada",
        client: { handlers: { elicitation: () => new Promise<never>(() => {}) } },
      };
      await withPlace({ ...setting, server, tasks: process(texts, clock) }, async ({ client }) => {
        const done = await client.callToolTask("hold");
        held.release("done before");
        await clock.until(done.result());
        const [running, asking] = [await client.callToolTask("hold"), await client.callToolTask("ask")];
        await clock.settle();
        ids.push(done.taskId, running.taskId, asking.taskId);
        // The process dies here: nothing that it does later reaches the store.
        for (const [key, text] of texts.texts) snapshot.set(key, text);
      });
      const left = new TestStore();
      for (const [key, text] of snapshot) left.texts.set(key, text);
      await withPlace({ ...setting, tasks: process(left, clock) }, async ({ client, post }) => {
        await client.listTools();
        const [done, running, asking] = await Promise.all(ids.map((taskId) => client.getTask(taskId)));
        assertEquals((await clock.until(done!.result())).content, [{ type: "text", text: "done before" }]);
        assertEquals([running!.task.status, asking!.task.status], ["working", "input_required"]);
        const waiting = assertRejects(() => running!.result(), Error, "has ended before it");
        await clock.advance(31_000);
        await waiting;
        for (const task of [running!, asking!]) {
          const { status, statusMessage } = await task.get();
          assertEquals([status, statusMessage?.includes("process that ran this task")], ["failed", true]);
        }
        if (era === "legacy") {
          const states = (await client.listTasks()).map(({ status }) => status);
          assertEquals(states, ["completed", "failed", "failed"]);
        }
        // Nobody else hears of any of them.
        const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "eve", version: "1" } };
        if (era === "legacy") await post("initialize", params, { user: "eve" });
        const { error } = await post("tasks/get", { taskId: ids[0] as string }, { user: "eve" });
        assertEquals((error as JsonObject).code, -32602);
      });
    });

    test("a task that takes longer than its lease goes on, and nobody sees that it was vouched for", async () => {
      const texts = new TestStore();
      const clock = new VirtualClock();
      const { server, held } = createServer();
      await withPlace({ era, clock, server, tasks: process(texts, clock) }, async (here) => {
        await withPlace({ era, clock, tasks: process(texts, clock) }, async (there) => {
          const begun = await here.client.callToolTask("hold");
          const far = await there.client.getTask(begun.taskId);
          await clock.advance(300_000);
          const { status, lastUpdatedAt } = await far.get();
          assertEquals([status, lastUpdatedAt], ["working", begun.task.lastUpdatedAt]);
          held.release("at last");
          assertEquals((await clock.until(far.result())).content, [{ type: "text", text: "at last" }]);
        });
      });
    });

    test("a result that cannot be kept is a failed task, not one that works for ever", async () => {
      const texts = new TestStore();
      const clock = new VirtualClock();
      const { server, held } = createServer();
      texts.most = 10_000;
      await withPlace({ era, clock, server, tasks: process(texts, clock) }, async ({ client }) => {
        const task = await client.callToolTask("hold");
        held.release("x".repeat(20_000));
        await clock.advance(5_000);
        const { status, statusMessage } = await task.get();
        assertEquals([status, statusMessage], ["failed", "How this task has ended could not be kept"]);
      });
    });
  });
}

test("a list shows a task whose process has died as it is told when it is asked for", async () => {
  const texts = new TestStore();
  const clock = new VirtualClock();
  const store = createTaskStore(texts, { clock });
  const now = clock.now();
  await store.create(record("a", { createdAt: now, updatedAt: now, ttl: 600_000, leaseUntil: now + 1_000 }));
  await store.create(record("b", { createdAt: now, updatedAt: now, ttl: 600_000 }));
  await clock.advance(1_000);
  await withPlace({ era: "legacy", clock, user: "ada", tasks: createTasks({ store }) }, async ({ client }) => {
    await client.listTools();
    assertEquals((await client.listTasks()).map(({ status }) => status), ["failed", "working"]);
  });
});
