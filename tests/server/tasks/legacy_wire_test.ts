/** The experimental tasks of 2025-11-25 on the wire. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { createMemoryPair } from "../../../mod.ts";
import type { JsonObject } from "../../../mod.ts";
import { createTasks, createTaskStore, serveChannel } from "../../../src/server/mod.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { TestStore } from "../../support/test_store.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { createServer, type Place, type Setting, withPlace } from "./served.ts";

type Answer = { result: JsonObject; error: { code: number; message: string; data?: JsonObject } };
const related = "io.modelcontextprotocol/related-task";

async function send(place: Place, ...rest: Parameters<Place["post"]>): Promise<Answer> {
  return await place.post(...rest) as unknown as Answer;
}

/** Runs a test in a session that is open; gives what `initialize` was answered with. */
async function withSession(
  setting: Omit<Setting, "era"> & { revision?: string },
  run: (place: Place, declared: JsonObject) => Promise<void>,
): Promise<void> {
  const { revision: protocolVersion = "2025-11-25", ...rest } = setting;
  await withPlace({ era: "legacy", ...rest }, async (place) => {
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion, capabilities: { elicitation: {} }, clientInfo };
    const { result } = await send(place, "initialize", params);
    await run(place, result.capabilities as JsonObject);
  });
}

const call = (name: string, task?: JsonObject): JsonObject => ({ name, arguments: {}, ...(task && { task }) });

describe("tasks of 2025-11-25 on the wire", () => {
  test("are declared, with a list only for callers that are told apart", async () => {
    const most = { cancel: {}, requests: { tools: { call: {} } } };
    await withSession({}, (_place, { tasks }) => Promise.resolve(assertEquals(tasks, most)));
    await withSession({ user: "ada" }, (_, { tasks }) => Promise.resolve(assertEquals(tasks, { list: {}, ...most })));
    await withSession({ revision: "2025-06-18" }, async (place, { tasks }) => {
      assertEquals(tasks, undefined);
      const { result } = await send(place, "tools/call", call("plain", { ttl: 5 }));
      assertEquals(result.content, [{ type: "text", text: "plain" }]);
      assertEquals((await send(place, "tasks/get", { taskId: "any" })).error.code, -32601);
    });
  });

  test("are listed with the tools, and refused where a tool does not allow them or needs one", () =>
    withSession({}, async (place) => {
      const { result } = await send(place, "tools/list", {});
      const support = (result.tools as JsonObject[]).map(({ name, execution }) => [name, execution]);
      assertEquals(support.slice(0, 3), [
        ["plain", undefined],
        ["quick", { taskSupport: "required" }],
        ["hold", { taskSupport: "optional" }],
      ]);
      assertEquals((await send(place, "tools/call", call("plain", {}))).error.code, -32601);
      assertEquals((await send(place, "tools/call", call("quick"))).error.code, -32601);
      assertEquals((await send(place, "tools/call", call("nothing", {}))).error.code, -32602);
      assertEquals((await send(place, "tools/call", call("hold", { ttl: "long" }))).error.code, -32602);
      const plain = await send(place, "tools/call", call("fail"));
      assertEquals(plain.result.isError, true);
    }));

  test("have ttl and pollInterval; the result is the very result, and names the task", () =>
    withSession({}, async (place) => {
      const { task } = (await send(place, "tools/call", call("quick", { ttl: 9e9 }))).result as { task: JsonObject };
      const { taskId, status, ttl, pollInterval } = task;
      assertEquals([status, ttl, pollInterval], ["working", 86_400_000, 200]);
      const { result } = await send(place, "tasks/result", { taskId: taskId as string });
      assertEquals(result, { content: [{ type: "text", text: "quick" }], _meta: { [related]: { taskId } } });
      const got = await send(place, "tasks/get", { taskId: taskId as string });
      assertEquals([got.result.status, got.result.taskId, got.result.result], ["completed", taskId, undefined]);
    }));

  test("tasks/result waits for the end, gives the very error, and ends when the task is cancelled", async () => {
    const { server, held } = createServer();
    await withSession({ server }, async (place) => {
      const begin = async (name: string) =>
        ((await send(place, "tools/call", call(name, {}))).result.task as JsonObject).taskId as string;
      const waiting = send(place, "tasks/result", { taskId: await begin("hold") });
      await place.clock.settle();
      held.release("late");
      assertEquals((await waiting).result.content, [{ type: "text", text: "late" }]);
      const { error } = await send(place, "tasks/result", { taskId: await begin("refuse") });
      assertEquals(error, { code: -32602, message: "not like this", data: { why: "no" } });
      const taskId = await begin("hold");
      const { result } = await send(place, "tasks/cancel", { taskId });
      assertEquals(result.status, "cancelled");
      assertEquals((await send(place, "tasks/result", { taskId })).error.code, -32602);
      assertEquals((await send(place, "tasks/cancel", { taskId })).error.code, -32602);
    });
  });

  test("belong to their caller, who may list them", () =>
    withSession({ user: "ada" }, async (place) => {
      const taskIds: unknown[] = [];
      for (const name of ["quick", "hold"]) {
        taskIds.push(((await send(place, "tools/call", call(name, {}))).result.task as JsonObject).taskId);
      }
      const { result } = await send(place, "tasks/list", {});
      assertEquals((result.tasks as JsonObject[]).map(({ taskId }) => taskId), taskIds);
      assertEquals((await send(place, "tasks/list", { cursor: "elsewhere" })).error.code, -32602);
    }));

  test("are not listed where callers cannot be told apart", () =>
    withSession({}, async (place) => {
      assertEquals((await send(place, "tasks/list", {})).error.code, -32601);
    }));
});

/** A 2025-11-25 client on a pipe, by hand: what it got, and how it sends. */
async function withPipe(
  tasks: ReturnType<typeof createTasks>,
  server: McpServer,
  run: (pipe: { got: JsonObject[]; send(message: JsonObject): Promise<JsonObject[]> }) => Promise<void>,
): Promise<void> {
  const clock = new VirtualClock();
  const [near, far] = createMemoryPair();
  const serving = serveChannel(server, far, { tasks, clock });
  const got: JsonObject[] = [];
  await near.open({ text: (text) => void got.push(JSON.parse(text)), end: () => {} });
  const send = async (message: JsonObject) => {
    const before = got.length;
    await near.write([JSON.stringify({ jsonrpc: "2.0", ...message })]);
    await clock.settle();
    return got.slice(before);
  };
  const clientInfo = { name: "hand", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo };
  await send({ id: 0, method: "initialize", params });
  await send({ method: "notifications/initialized" });
  await run({ got, send });
  await serving.close();
}

describe("what belongs to a task of 2025-11-25", () => {
  test("names it: progress, log messages and questions, which go out while somebody waits in tasks/result", async () => {
    const { server } = createServer();
    await withPipe(createTasks({ pollInterval: 500 }), server, async ({ got, send }) => {
      const chat = { ...call("chat", {}), _meta: { progressToken: "p" } };
      await send({ id: 1, method: "tools/call", params: chat });
      const taskOf = (message: JsonObject | undefined) =>
        (message?.result as { task: JsonObject }).task.taskId as string;
      const told = got.filter(({ method }) =>
        method === "notifications/progress" || method === "notifications/message"
      );
      const answer = got.find(({ id }) => id === 1);
      const _meta = { [related]: { taskId: taskOf(answer) } };
      assertEquals(told.map(({ params }) => params), [
        { progress: 1, total: 2, progressToken: "p", _meta },
        { level: "warning", data: "half way", _meta },
      ]);
      const ended = got.find(({ method }) => method === "notifications/tasks/status");
      assertEquals([(ended?.params as JsonObject).taskId, (ended?.params as JsonObject).status], [
        taskOf(answer),
        "completed",
      ]);

      const asking = await send({ id: 2, method: "tools/call", params: call("ask", {}) });
      const taskId = taskOf(asking.find(({ id }) => id === 2));
      assert(!got.some(({ method }) => method === "elicitation/create"));
      const isQuestion = ({ method }: JsonObject) => method === "elicitation/create";
      const asked = (await send({ id: 3, method: "tasks/result", params: { taskId } })).filter(isQuestion);
      assertEquals(asked.map(({ params }) => (params as JsonObject)._meta), [
        { [related]: { taskId } },
        { [related]: { taskId } },
      ]);
      // Who waited is gone: the next one is asked what is still open, once.
      const accept = (id: unknown, content: JsonObject) =>
        ({ id, result: { action: "accept", content } }) as JsonObject;
      await send(accept(asked[0]?.id, { first: "Ada" }));
      const over = await send({ method: "notifications/cancelled", params: { requestId: 3 } });
      assertEquals(over.map(({ method }) => method), ["notifications/cancelled"]);
      const again = (await send({ id: 4, method: "tasks/result", params: { taskId } })).filter(isQuestion);
      assertEquals(again.map(({ params }) => (params as JsonObject).message), ["last?"]);
      const next = await send(accept(again[0]?.id, { last: "Lovelace" }));
      const sure = next.find(isQuestion);
      assertEquals((sure?.params as JsonObject).message, "Ada Lovelace?");
      const end = await send({ id: sure?.id as string, result: { action: "decline" } });
      const { result } = end.find(({ id }) => id === 4) as { result: JsonObject };
      assertEquals(result, {
        content: [{ type: "text", text: "decline: Ada Lovelace" }],
        _meta: { [related]: { taskId } },
      });
    });
  });

  test("outlives its connection, is found over another one, and stops when all tasks are closed", async () => {
    const { server, held } = createServer();
    const tasks = createTasks();
    let taskId = "";
    await withPipe(tasks, server, async ({ send }) => {
      const answers = await send({ id: 1, method: "tools/call", params: call("hold", {}) });
      taskId = ((answers.at(-1)?.result as JsonObject).task as JsonObject).taskId as string;
    });
    await withPipe(tasks, server, async ({ send }) => {
      const status = async (id: number) => {
        const [answer] = await send({ id, method: "tasks/get", params: { taskId } });
        return [(answer?.result as JsonObject).status, held.contexts[0]?.signal.aborted];
      };
      assertEquals(await status(1), ["working", false]);
      await tasks.close();
      assertEquals(await status(2), ["cancelled", true]);
    });
  });
});

test("who waits for a result at another process than the task's is told that its questions are not asked there", async () => {
  const clock = new VirtualClock();
  const store = createTaskStore(new TestStore(), { clock });
  const setting = () => ({ clock, tasks: createTasks({ store, pollInterval: 200 }) });
  await withSession(setting(), (here) =>
    withSession(setting(), async (there) => {
      const { result } = await send(here, "tools/call", call("ask", {}));
      const { taskId } = result.task as { taskId: string };
      await clock.settle();
      assertEquals((await send(there, "tasks/get", { taskId })).result.status, "input_required");
      const { error } = await clock.until(send(there, "tasks/result", { taskId }), 10_000);
      assert(error.message.includes("another process"), error.message);
      await send(there, "tasks/cancel", { taskId });
      await clock.advance(60_000);
    }));
});
