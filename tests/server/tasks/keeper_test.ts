/** Two processes with one store: what one does to a task of the other. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createStateSealer, createTaskStore, McpServer } from "../../../src/server/mod.ts";
import { createParts } from "../../../src/server/parts.ts";
import { TaskKeeper } from "../../../src/server/tasks/keeper.ts";
import type { TaskWork } from "../../../src/server/tasks/keeper.ts";
import { TestStore } from "../../support/test_store.ts";
import type { Clock } from "../../../src/ports.ts";
import { requestClock } from "../../support/clocks/request_clock.ts";
import { jumpingClock } from "../../support/clocks/jumping_clock.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const lease = 30_000;

function twoKeepers(of: (clock: Clock) => Clock = (clock) => clock, waitUntil?: (work: Promise<void>) => void) {
  const clock = new VirtualClock();
  const jumping = jumpingClock(of(clock));
  const texts = new TestStore();
  const { methods } = new McpServer({ name: "tasks", version: "1.0.0" });
  const bounds = { ttl: 600_000, maxTtl: 600_000, maxRunning: 4, pollInterval: 1_000, lease, waitUntil };
  const create = () =>
    new TaskKeeper(
      { store: createTaskStore(texts, { clock: jumping }), ...bounds },
      createParts(methods, { clock: jumping, state: createStateSealer }),
    );
  return { clock, jumping, texts, here: create(), there: create() };
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

test("a store that fails while somebody waits for a task takes its end from nobody in the process that runs it", async () => {
  const { clock, texts, here } = twoKeepers();
  let finish = (_result: { content: [] }): void => {};
  const { taskId } = await here.begin({
    owner: "ada",
    era: "legacy",
    run: () => new Promise((resolve) => finish = resolve),
    toError: () => ({ code: -32603, message: "stopped" }),
  });
  texts.mood = "fails";
  const ended = here.ended(taskId, new AbortController().signal);
  await clock.advance(3_000);
  texts.mood = "well";
  finish({ content: [] });
  assertEquals((await clock.until(ended))?.status, "completed");
  assertEquals(clock.waiting, 0);
});

describe("a machine that slept, or whose clock was put forward", () => {
  for (const method of ["find", "list"] as const) {
    test(`takes no task of another process for dead before that can vouch for it again (${method})`, async () => {
      const { clock, jumping, here, there } = twoKeepers();
      let finish = (_result: { content: [] }): void => {};
      const { taskId } = await here.begin({
        owner: "ada",
        era: "modern",
        run: () => new Promise((resolve) => finish = resolve),
        toError: () => ({ code: -32603, message: "stopped" }),
      });
      const look = async (): Promise<string | undefined> =>
        method === "find"
          ? (await there.find(taskId, "modern", "ada"))?.status
          : (await there.list("ada", "modern", undefined))?.records[0]?.status;
      assertEquals(await look(), "working");
      jumping.ahead = 120_000;
      assertEquals(await look(), "working");
      await clock.advance(lease);
      assertEquals(await look(), "working");
      finish({ content: [] });
      await clock.settle();
      assertEquals(await look(), "completed");
    });
  }

  test("finds out all the same that a process has died", async () => {
    const { clock, jumping, here, there } = twoKeepers();
    const { taskId } = await here.begin({
      owner: "ada",
      era: "modern",
      run: () => new Promise(() => {}),
      toError: () => ({ code: -32603, message: "stopped" }),
    });
    await there.find(taskId, "modern", "ada");
    jumping.ahead = 120_000;
    await there.find(taskId, "modern", "ada");
    // Its beat comes no more.
    jumping.schedule = () => () => {};
    await clock.advance(lease);
    await clock.advance(lease);
    await clock.advance(lease);
    assertEquals((await there.find(taskId, "modern", "ada"))?.status, "failed");
  });
});

test("a request that a Worker has ended takes nobody along who vouches for the tasks of others", async () => {
  let request: ReturnType<typeof requestClock> | undefined;
  const { clock, here, there } = twoKeepers((clock) => request = requestClock(clock));
  const begin = async (run: () => Promise<{ content: [] }>): Promise<string> => {
    const toError = () => ({ code: -32603, message: "stopped" });
    return (await here.begin({ owner: "ada", era: "modern", run, toError })).taskId;
  };
  await begin(() => Promise.resolve({ content: [] }));
  await clock.settle();
  // The first request is over, and its timers with it.
  if (request) request.isDead = false;
  let finish = (_result: { content: [] }): void => {};
  const taskId = await begin(() => new Promise((resolve) => finish = resolve));
  for (let times = 0; times < 3; times++) {
    await clock.advance(lease);
    assertEquals((await there.find(taskId, "modern", "ada"))?.status, "working");
  }
  finish({ content: [] });
  await clock.settle();
  assertEquals((await there.find(taskId, "modern", "ada"))?.status, "completed");
  assertEquals(clock.waiting, 0);
});

describe("a task", () => {
  const work = (run: TaskWork["run"]) => ({
    owner: "ada",
    era: "modern" as const,
    run,
    toError: () => ({ code: -32603, message: "stopped" }),
  });

  test("is found and listed by its caller, in the era in which it was begun, while it is kept", async () => {
    const { clock, here, there } = twoKeepers();
    const { taskId } = await here.begin(
      work(({ signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
      ),
    );
    const found = async (keeper: TaskKeeper) => [
      (await keeper.find(taskId, "modern", "ada"))?.taskId,
      (await keeper.list("ada", "modern", undefined))?.records.length,
    ];
    for (const keeper of [here, there]) {
      assertEquals(await found(keeper), [taskId, 1]);
      assertEquals(await keeper.find(taskId, "legacy", "ada"), undefined);
      assertEquals(await keeper.find(taskId, "modern", "ben"), undefined);
      assertEquals(await keeper.find(taskId, "modern", null), undefined);
      assertEquals((await keeper.list("ada", "legacy", undefined))?.records, []);
      assertEquals((await keeper.list("ben", "modern", undefined))?.records, []);
    }
    const { signal } = new AbortController();
    const ended = Promise.all([here, there].map((keeper) => keeper.ended(taskId, signal)));
    await clock.advance(600_001);
    for (const keeper of [here, there]) assertEquals(await found(keeper), [undefined, 0]);
    assertEquals((await clock.until(ended)).map((record) => record?.status), [undefined, undefined]);
    assertEquals([here.running(taskId), clock.waiting], [undefined, 0]);
  });

  test("that cannot be kept takes nobody's place", async () => {
    const { clock, texts, here } = twoKeepers();
    texts.mood = "fails";
    for (let turn = 0; turn < 4; turn++) {
      assertEquals(await here.begin(work(() => Promise.resolve({}))).catch(() => "refused"), "refused");
    }
    texts.mood = "well";
    assertEquals((await here.begin(work(() => Promise.resolve({})))).status, "working");
    await clock.settle();
    assertEquals(clock.waiting, 0);
  });

  test("is told to the platform, until how it has ended is written down", async () => {
    const taken: Promise<void>[] = [];
    const { clock, here } = twoKeepers(undefined, (done) => void taken.push(done));
    let finish = (_result: { content: [] }): void => {};
    const { taskId } = await here.begin(work(() => new Promise((resolve) => finish = resolve)));
    assertEquals(taken.length, 1);
    finish({ content: [] });
    await taken[0];
    assertEquals((await here.find(taskId, "modern", "ada"))?.status, "completed");
    assertEquals(clock.waiting, 0);
  });

  test("is waited for until it has ended, or until who waits has left; nothing is left of the waiting", async () => {
    const { clock, here } = twoKeepers();
    let finish = (_result: { content: [] }): void => {};
    const { taskId } = await here.begin(work(() => new Promise((resolve) => finish = resolve)));
    const { waiting } = clock;
    const controller = new AbortController();
    const left = here.ended(taskId, controller.signal).catch((error: unknown) => error);
    await clock.settle();
    const reason = new Error("enough");
    controller.abort(reason);
    assertEquals(await left, reason);
    assertEquals(await here.ended(taskId, controller.signal).catch((error: unknown) => error), reason);
    assertEquals(clock.waiting, waiting);
    const ended = here.ended(taskId, new AbortController().signal);
    await clock.settle();
    finish({ content: [] });
    assertEquals((await ended)?.status, "completed");
    assertEquals([here.running(taskId), clock.waiting], [undefined, 0]);
  });
});
