/** Several processes, or several things in one, that change what is kept of tasks in the same moment. */
import { describe, test } from "node:test";
import { assertEquals, assertRejects } from "@std/assert";
import { createStateSealer, createTasks, createTaskStore, McpServer } from "../../../src/server/mod.ts";
import type { TaskRecord, TaskStore } from "../../../src/server/mod.ts";
import { createParts } from "../../../src/server/parts.ts";
import { TaskKeeper } from "../../../src/server/tasks/keeper.ts";
import { TaskRun } from "../../../src/server/tasks/run.ts";
import { ComparingStore, TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { form, withPlace } from "./served.ts";

const lease = 30_000;
const bounds = { ttl: 600_000, maxTtl: 600_000, maxRunning: 4, pollInterval: 1_000, lease, waitUntil: undefined };
const keeperOver = (
  clock: VirtualClock,
  texts: TestStore,
  max?: number,
  store: TaskStore = createTaskStore(texts, { clock, max }),
) =>
  new TaskKeeper(
    { store, ...bounds },
    createParts(new McpServer({ name: "t", version: "1" }).methods, { clock, state: createStateSealer }),
  );
const work = (run: (run: TaskRun) => Promise<{ content: [] }>) => ({
  owner: "ada",
  era: "modern" as const,
  run,
  toError: (e: unknown) => ({ code: -32603, message: String(e) }),
});
function record(taskId: string, more: Partial<TaskRecord> = {}): TaskRecord {
  const times = { createdAt: 0, updatedAt: 0, ttl: 100_000, pollInterval: 100 };
  return { taskId, owner: "ada", era: "legacy", version: 1, status: "working", ...times, ...more };
}

/** A task that ends when it is told to. */
async function beginHeld(keeper: TaskKeeper): Promise<{ taskId: string; finish(): void }> {
  let finish = (_: { content: [] }): void => {};
  const { taskId } = await keeper.begin(work(() => new Promise((resolve) => finish = resolve)));
  return { taskId, finish: () => finish({ content: [] }) };
}

describe("races of tasks", () => {
  test("a beat while a task is being created does not stop it", async () => {
    const clock = new VirtualClock();
    const texts = new TestStore();
    const keeper = keeperOver(clock, texts);
    // One task keeps the beat going.
    await keeper.begin(work(() => new Promise(() => {})));
    await clock.advance(lease / 3 - 50);
    let release = () => {};
    texts.held = new Promise((resolve) => release = resolve);
    let aborted: boolean | undefined;
    const began = keeper.begin(work((run) => {
      aborted = run.signal.aborted;
      return Promise.resolve({ content: [] });
    }));
    await clock.advance(100); // the beat
    release();
    texts.held = undefined;
    const { status } = await began;
    await clock.settle();
    assertEquals([status, aborted], ["working", false]);
  });

  test("a write that is late does not undo the end of a task", async () => {
    const clock = new VirtualClock();
    const texts = new ComparingStore();
    const keeper = keeperOver(clock, texts);
    const { taskId, finish } = await beginHeld(keeper);
    let release = () => {};
    texts.held = new Promise((resolve) => release = resolve);
    await clock.advance(lease / 3); // the renewal hangs at the store
    texts.held = undefined;
    await clock.advance(5_000); // it is given up
    finish();
    await clock.settle();
    assertEquals((await keeper.find(taskId, "modern", "ada"))?.status, "completed");
    release(); // what was on its way arrives
    await clock.settle();
    const now = (await keeper.find(taskId, "modern", "ada"))?.status;
    await clock.advance(lease);
    assertEquals([now, (await keeper.find(taskId, "modern", "ada"))?.status], ["completed", "completed"]);
  });

  test("a running task whose record cannot be read for once is not forgotten for a new one", async () => {
    const clock = new VirtualClock(0);
    const texts = new TestStore();
    const store = createTaskStore(texts, { clock, max: 1 });
    await store.create(record("running"));
    const get = texts.get.bind(texts);
    let fails = 1;
    texts.get = (key) =>
      key.endsWith("task:running") && fails-- > 0 ? Promise.reject(new Error("ECONNRESET")) : get(key);
    const told = await store.create(record("new")).then(() => "created", () => "refused");
    assertEquals([told, (await store.get("running"))?.status], ["refused", "working"]);
  });

  test("a task that is being created is not forgotten for another one", async () => {
    const clock = new VirtualClock(0);
    const texts = new TestStore();
    const store = createTaskStore(texts, { clock, max: 1 });
    const set = texts.set.bind(texts);
    const drop = texts.delete.bind(texts);
    // Writes of a task take longer than two reads.
    let release = () => {};
    const slow = new Promise<void>((resolve) => release = resolve);
    texts.set = async (key, value) => {
      if (key.endsWith("task:a")) await slow;
      await set(key, value);
    };
    // A deletion that is sent later arrives later.
    texts.delete = async (key) => {
      if (key.endsWith("task:a")) {
        release();
        await clock.settle();
      }
      await drop(key);
    };
    const begin = (id: string) => store.create(record(id)).then(() => "created", () => "refused");
    const first = begin("a");
    // It is in the list, and its own text is on its way.
    await clock.settle();
    await begin("b");
    release();
    assertEquals([await first, (await store.get("a"))?.status], ["created", "working"]);
  });

  test("tasks that begin at once in two processes are both listed", async () => {
    const clock = new VirtualClock(0);
    const texts = new ComparingStore();
    const [one, other] = [createTaskStore(texts, { clock }), createTaskStore(texts, { clock })];
    let release = () => {};
    texts.held = new Promise((resolve) => release = resolve);
    const creating = Promise.all([one.create(record("a")), other.create(record("b"))]);
    await clock.settle(); // both have read the list
    release();
    await creating;
    assertEquals((await one.list("ada", undefined, 9))?.records.map(({ taskId }) => taskId).sort(), ["a", "b"]);
  });

  test("a cancel in another process is not undone by a renewal", async () => {
    const clock = new VirtualClock();
    const texts = new ComparingStore();
    const [here, there] = [keeperOver(clock, texts), keeperOver(clock, texts)];
    let aborted = false;
    const { taskId } = await here.begin(
      work((run) =>
        new Promise((_, reject) =>
          run.signal.addEventListener("abort", () => {
            aborted = true;
            reject(run.signal.reason);
          })
        )
      ),
    );
    let release = () => {};
    texts.held = new Promise((resolve) => release = resolve);
    await clock.advance(lease / 3); // it has read the record, and writes
    texts.held = undefined;
    assertEquals((await there.cancel(taskId))?.status, "cancelled");
    release();
    await clock.settle();
    const status = (await there.find(taskId, "modern", "ada"))?.status;
    await clock.advance(lease);
    assertEquals([status, aborted], ["cancelled", true]);
  });

  test("a question whose answer could not be written as the task ended is settled", async () => {
    let fail = (_: unknown): void => {};
    let hold = false;
    const run = new TaskRun("t", null, () => hold ? new Promise((_, reject) => fail = reject) : Promise.resolve());
    let settled = false;
    run.ask("q", { method: "elicitation/create" } as never, (answer) => answer).then(
      () => settled = true,
      () => settled = true,
    );
    await new Promise((resolve) => setTimeout(resolve, 1));
    hold = true;
    const answering = run.answer({ q: { action: "accept" } }).catch(() => "failed");
    run.stop(new DOMException("cancelled", "AbortError"));
    fail(new Error("The store took longer than 5000 ms"));
    await answering;
    await new Promise((resolve) => setTimeout(resolve, 5));
    assertEquals(settled, true);
  });

  test("and the task of such a question ends, through the keeper", async () => {
    const clock = new VirtualClock();
    const texts = new TestStore();
    const keeper = keeperOver(clock, texts);
    const { taskId } = await keeper.begin(work(async (run) => {
      await run.ask("q", { method: "elicitation/create" } as never, (answer) => answer);
      return { content: [] };
    }));
    await clock.advance(bounds.ttl - 1_000);
    texts.held = new Promise(() => {});
    const answering = keeper.running(taskId)?.answer({ q: {} }).catch(() => "failed");
    await clock.settle(); // its write is on its way, and hangs
    texts.held = undefined;
    await clock.advance(1_000); // the task is over its time
    await clock.advance(5_000); // the write is given up
    assertEquals(await answering, "failed");
    await clock.advance(60_000);
    assertEquals(keeper.running(taskId), undefined);
  });

  test("a question whose answer could not be written down is asked by nobody any more once its tool was told", async () => {
    let isDown = false;
    const run = new TaskRun("t", null, () => isDown ? Promise.reject(new Error("ECONNRESET")) : Promise.resolve());
    const asked: unknown[] = [];
    const stop = run.serve((request) => {
      asked.push(request.method);
      isDown = true;
      return Promise.resolve({ action: "accept" });
    });
    const request = { method: "elicitation/create" } as never;
    await assertRejects(() => run.ask("q", request, (answer) => answer), Error, "ECONNRESET");
    isDown = false;
    assertEquals([run.waiting, run.inputRequests], [false, {}]);
    stop();
    run.serve(({ method }) => Promise.resolve(void asked.push(method)));
    assertEquals(asked, ["elicitation/create"]);
  });

  test("one failure of the store does not lose the result of a task", async () => {
    const clock = new VirtualClock();
    const texts = new TestStore();
    const keeper = keeperOver(clock, texts);
    const { taskId, finish } = await beginHeld(keeper);
    const get = texts.get.bind(texts);
    let fails = 1;
    texts.get = (key) => fails-- > 0 ? Promise.reject(new Error("ECONNRESET")) : get(key);
    finish();
    await clock.advance(1);
    assertEquals((await keeper.find(taskId, "modern", "ada"))?.status, "completed");
  });
});

describe("a look at a task that ends before the store has answered", () => {
  /** A store whose next answer is late, while that is wanted. */
  function lateStore(clock: VirtualClock) {
    const store: TaskStore = createTaskStore(new TestStore(), { clock });
    const late = { answers: 0 };
    const get = store.get.bind(store);
    store.get = async (taskId) => {
      const found = await get(taskId);
      if (late.answers > 0 && late.answers--) await new Promise<void>((resolve) => clock.schedule(resolve, 100));
      return found;
    };
    return { late, store };
  }

  test("is told how it has ended, and not that it is at work elsewhere", async () => {
    const clock = new VirtualClock();
    const { late, store } = lateStore(clock);
    const keeper = keeperOver(clock, new TestStore(), undefined, store);
    const { taskId } = await keeper.begin(work(async (run) => {
      await run.ask("name", { method: "elicitation/create" }, (answer) => answer);
      return { content: [] };
    }));
    await clock.settle();
    late.answers = 1;
    const ended = keeper.ended(taskId, new AbortController().signal);
    await clock.settle();
    await keeper.running(taskId)?.answer({ name: {} });
    assertEquals((await clock.until(ended))?.status, "completed");
  });

  test("takes the same answer twice", async () => {
    const clock = new VirtualClock();
    const { late, store } = lateStore(clock);
    const server = new McpServer({ name: "t", version: "1" });
    server.tool("ask", { task: "required" }, async (_args, { elicit }) => (await elicit(form("name"))).action);
    await withPlace({ era: "modern", clock, server, tasks: createTasks({ store }) }, async ({ post }) => {
      const { taskId } = (await post("tools/call", { name: "ask" })).result as { taskId: string };
      await clock.settle();
      const inputResponses = { elicit: { action: "accept", content: { name: "Ada" } } };
      late.answers = 1;
      const first = post("tasks/update", { taskId, inputResponses });
      await clock.settle();
      const second = await clock.until(post("tasks/update", { taskId, inputResponses }));
      assertEquals([second.error, (await clock.until(first)).error], [undefined, undefined]);
      await clock.advance(1_000);
    });
  });
});
