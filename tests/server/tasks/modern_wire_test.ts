/** The extension `io.modelcontextprotocol/tasks` on the wire. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { JsonObject } from "../../../mod.ts";
import { createMemoryTaskStore, createTasks, McpServer } from "../../../src/server/mod.ts";
import type { TaskRecord, TaskStore } from "../../../src/server/mod.ts";
import { createServer, form, type Place, withPlace } from "./served.ts";

type Answer = { status: number; result: JsonObject; error: { code: number; message: string; data?: JsonObject } };

async function send(place: Place, ...rest: Parameters<Place["post"]>): Promise<Answer> {
  return await place.post(...rest) as unknown as Answer;
}

async function begin(place: Place, name: string, args: JsonObject = {}): Promise<string> {
  const { result } = await send(place, "tools/call", { name, arguments: args });
  return result.taskId as string;
}

/** A store that keeps a new task when it is let. */
function gated(kept: TaskStore, gate: (record: TaskRecord) => Promise<void>): TaskStore {
  return {
    create: async (record) => {
      await gate(record);
      await kept.create(record);
    },
    get: (taskId) => kept.get(taskId),
    replace: (record) => kept.replace(record),
    delete: (taskId) => kept.delete(taskId),
    list: (...page) => kept.list(...page),
  };
}

describe("the tasks extension on the wire", () => {
  test("is declared as an extension, and not as the capability of 2025-11-25", () =>
    withPlace({ era: "modern" }, async (place) => {
      const { result } = await send(place, "server/discover", {});
      const { extensions, tasks } = result.capabilities as JsonObject;
      assertEquals([extensions, tasks], [{ "io.modelcontextprotocol/tasks": {} }, undefined]);
      const { result: list } = await send(place, "tools/list", {});
      assert((list.tools as JsonObject[]).every((tool) => tool.execution === undefined));
    }));

  test("a task is flat, with times in milliseconds; a look at it is complete and has its payload", () =>
    withPlace({ era: "modern" }, async (place) => {
      const { result } = await send(place, "tools/call", { name: "quick", arguments: {} });
      const { _meta, ...created } = result;
      const { taskId, createdAt, lastUpdatedAt } = created;
      const times = { ttlMs: 3_600_000, pollIntervalMs: 200 };
      assertEquals(created, { resultType: "task", taskId, status: "working", createdAt, lastUpdatedAt, ...times });
      const got = await send(place, "tasks/get", { taskId: taskId as string });
      const { resultType, status, result: inner } = got.result;
      assertEquals([resultType, status, inner], ["complete", "completed", {
        content: [{ type: "text", text: "quick" }],
      }]);
    }));

  test("a failed task has the error, and no result", () =>
    withPlace({ era: "modern" }, async (place) => {
      const taskId = await begin(place, "refuse");
      const { result } = await send(place, "tasks/get", { taskId });
      assertEquals([result.status, result.error, result.result], [
        "failed",
        { code: -32602, message: "not like this", data: { why: "no" } },
        undefined,
      ]);
    }));

  test("who did not declare it gets no task, and -32021 where there is no other way", () =>
    withPlace({ era: "modern" }, async (place) => {
      const declared = false;
      const taskId = await begin(place, "hold");
      const plain = await send(place, "tools/call", { name: "fail", arguments: {} }, { declared });
      assertEquals([plain.result.resultType, plain.result.isError], ["complete", true]);
      const requiredCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
      const calls: [string, JsonObject][] = [
        ["tools/call", { name: "quick", arguments: {} }],
        ["tasks/get", { taskId }],
        ["tasks/update", { taskId, inputResponses: {} }],
        ["tasks/cancel", { taskId }],
        ["subscriptions/listen", { notifications: { taskIds: [taskId] } }],
      ];
      for (const [method, params] of calls) {
        const { status, error } = await send(place, method, params, { declared });
        assertEquals([method, status, error.code, error.data], [method, 400, -32021, { requiredCapabilities }]);
      }
    }));

  test("methods of 2025-11-25 are not there, and its parameter means nothing", () =>
    withPlace({ era: "modern" }, async (place) => {
      for (const method of ["tasks/result", "tasks/list"]) {
        const { status, error } = await send(place, method, { taskId: "any" });
        assertEquals([status, error.code], [404, -32601]);
      }
      const { result } = await send(place, "tools/call", { name: "plain", arguments: {}, task: { ttl: 5 } });
      assertEquals([result.resultType, result.taskId], ["complete", undefined]);
    }));

  test("acknowledgements are empty; unknown tasks, and those of others, are -32602 for everything", () =>
    withPlace({ era: "modern", user: "ada" }, async (place) => {
      const taskId = await begin(place, "hold");
      const methods = ["tasks/get", "tasks/update", "tasks/cancel"];
      for (const method of methods) {
        for (const [id, user] of [["nobody", "ada"], [taskId, "eve"]] as const) {
          const { error } = await send(place, method, { taskId: id, inputResponses: {} }, { user });
          assertEquals([method, error.code], [method, -32602]);
        }
      }
      for (const method of ["tasks/update", "tasks/cancel", "tasks/cancel"]) {
        const { result: { _meta, ...result } } = await send(place, method, { taskId, inputResponses: { none: {} } });
        assertEquals(result, { resultType: "complete" });
      }
    }));

  test("what cannot be read is -32602, and changes nothing", () =>
    withPlace({ era: "modern" }, async (place) => {
      const taskId = await begin(place, "ask");
      const wrong: [string, JsonObject][] = [
        ["tasks/get", {}],
        ["tasks/get", { taskId: 5 }],
        ["tasks/cancel", { taskId: "" }],
        ["tasks/cancel", { taskId: "x".repeat(257) }],
        ["tasks/update", { taskId }],
        ["tasks/update", { taskId, inputResponses: [] }],
        ["subscriptions/listen", { notifications: { taskIds: taskId } }],
        ["subscriptions/listen", { notifications: { taskIds: [5] } }],
        ["subscriptions/listen", { notifications: { taskIds: Array(10_001).fill(taskId) } }],
      ];
      for (const [method, params] of wrong) {
        const { error } = await send(place, method, params);
        assertEquals([method, error?.code], [method, -32602]);
      }
      assertEquals((await send(place, "tasks/get", { taskId })).result.status, "input_required");
    }));

  test("questions are answered one by one; an answer that is none is asked for again under another key", () =>
    withPlace({ era: "modern" }, async (place) => {
      const taskId = await begin(place, "ask");
      const look = async () => (await send(place, "tasks/get", { taskId })).result;
      const keys = async () => Object.keys((await look()).inputRequests as JsonObject);
      const answer = (inputResponses: JsonObject) => send(place, "tasks/update", { taskId, inputResponses });
      assertEquals([(await look()).status, await keys()], ["input_required", ["elicit", "surname"]]);
      await answer({ elicit: { action: "accept", content: { first: "Ada" } } });
      assertEquals([(await look()).status, await keys()], ["input_required", ["surname"]]);
      await answer({ surname: { action: "accept", content: { last: 7 } } });
      assertEquals(await keys(), ["surname_2"]);
      await answer({ surname_2: { action: "accept", content: { last: "Lovelace" } }, elicit: { action: "cancel" } });
      assertEquals(await keys(), ["elicit_2"]);
      await answer({ elicit_2: { action: "decline" } });
      const { status, result, inputRequests } = await look();
      assertEquals([status, inputRequests], ["completed", undefined]);
      assertEquals((result as JsonObject).content, [{ type: "text", text: "decline: Ada Lovelace" }]);
    }));

  test("a call may ask first, and go on as a task then; what was answered is not asked again", () =>
    withPlace({ era: "modern" }, async (place) => {
      const first = (await send(place, "tools/call", { name: "later", arguments: {} })).result;
      assertEquals([first.resultType, first.taskId], ["input_required", undefined]);
      const [key] = Object.keys(first.inputRequests as JsonObject);
      const inputResponses = { [key as string]: { action: "accept", content: { name: "Alice" } } };
      const params = { name: "later", arguments: {}, inputResponses, requestState: first.requestState as string };
      const second = (await send(place, "tools/call", params)).result;
      assertEquals([second.resultType, second.requestState, second.inputRequests], ["task", undefined, undefined]);
      const taskId = second.taskId as string;
      const asked = (await send(place, "tasks/get", { taskId })).result;
      assertEquals([asked.status, asked.requestState], ["input_required", undefined]);
      const [own] = Object.keys(asked.inputRequests as JsonObject);
      await send(place, "tasks/update", { taskId, inputResponses: { [own as string]: { action: "decline" } } });
      const { result } = (await send(place, "tasks/get", { taskId })).result;
      assertEquals((result as JsonObject).content, [{ type: "text", text: "Alice decline" }]);
    }));

  test("a task is written down before it is handed out, and what cannot be written down is none", async () => {
    const kept = createMemoryTaskStore();
    let allow: () => void = () => {};
    const allowed = new Promise<void>((resolve) => allow = resolve);
    const slow = gated(kept, () => allowed);
    const { server, held } = createServer();
    await withPlace({ era: "modern", server, tasks: createTasks({ store: slow }) }, async (place) => {
      let answered = false;
      const call = begin(place, "hold").finally(() => answered = true);
      await place.clock.settle();
      assertEquals([answered, held.contexts.length], [false, 0]);
      allow();
      const taskId = await call;
      assertEquals((await kept.get(taskId))?.status, "working");
      assertEquals(held.contexts.length, 1);
    });
    const broken = gated(kept, () => Promise.reject(new Error("disk full: /dev/sda1")));
    await withPlace({ era: "modern", tasks: createTasks({ store: broken }) }, async (place) => {
      const { error } = await send(place, "tools/call", { name: "hold", arguments: {} });
      assertEquals(error, { code: -32603, message: "Internal error" });
    });
  });

  test("a caller that is gone before it got the task leaves none behind", async () => {
    const kept = createMemoryTaskStore();
    let taskId = "";
    let allow: () => void = () => {};
    const allowed = new Promise<void>((resolve) => allow = resolve);
    const slow = gated(kept, (record) => {
      taskId = record.taskId;
      return allowed;
    });
    await withPlace({ era: "modern", tasks: createTasks({ store: slow }) }, async ({ client, clock }) => {
      const controller = new AbortController();
      const call = client.callToolTask("hold", {}, { signal: controller.signal });
      await clock.settle();
      controller.abort(new Error("enough"));
      await assertRejects(() => call, Error, "enough");
      await clock.settle();
      allow();
      await clock.settle();
      assertEquals((await kept.get(taskId))?.status, "cancelled");
    });
  });

  test("there is an end to how many run, and to how many are kept", async () => {
    await withPlace({ era: "modern", tasks: createTasks({ maxRunning: 2 }) }, async (place) => {
      await begin(place, "hold");
      const second = await begin(place, "hold");
      const { error } = await send(place, "tools/call", { name: "hold", arguments: {} });
      assertEquals(error, { code: -32603, message: "Busy: 2 tasks are running already" });
      await send(place, "tasks/cancel", { taskId: second });
      assert(await begin(place, "hold"));
    });
    const store = createMemoryTaskStore({ max: 2 });
    await withPlace({ era: "modern", tasks: createTasks({ store }) }, async (place) => {
      const first = await begin(place, "quick");
      await begin(place, "hold");
      assert(await begin(place, "hold"));
      assertEquals((await send(place, "tasks/get", { taskId: first })).error.code, -32602);
      const { error } = await send(place, "tools/call", { name: "hold", arguments: {} });
      assertEquals(error, { code: -32603, message: "Busy: no more tasks can be kept" });
    });
  });

  test("a task tells neither progress nor log messages, and goes on when its caller is gone", async () => {
    const server = new McpServer({ name: "own", version: "1" });
    let told = false;
    server.tool("work", { task: "required" }, async (_args, { progress, log, signal, elicit, can }) => {
      progress({ progress: 1 });
      log("emergency", "nobody hears");
      told = can("elicit") && !signal.aborted;
      const { action } = await elicit(form("go"));
      return action;
    });
    await withPlace({ era: "modern", server }, async (place) => {
      const messages: unknown[] = [];
      const taskId = await begin(place, "work");
      assertEquals([told, messages], [true, []]);
      await place.client.close();
      await send(place, "tasks/update", { taskId, inputResponses: { elicit: { action: "cancel" } } });
      assertEquals((await send(place, "tasks/get", { taskId })).result.status, "completed");
    });
  });

  test("where tasks are not served, nothing is declared and every tool is called as usual", () =>
    withPlace({ era: "modern", tasks: undefined }, async (place) => {
      const { result } = await send(place, "server/discover", {});
      assertEquals((result.capabilities as JsonObject).extensions, undefined);
      const call = await send(place, "tools/call", { name: "quick", arguments: {} });
      assertEquals(call.result.resultType, "complete");
      assertEquals((await send(place, "tasks/get", { taskId: "any" })).error.code, -32601);
    }));
});
