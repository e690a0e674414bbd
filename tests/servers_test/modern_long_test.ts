import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createModernServer } from "../servers/modern.ts";
import { callModern, codeOf, eventReader, modernMeta, modernRequest, resultOf, textOf, until } from "./support.ts";
import { type JsonObject, objectAt } from "../servers/core/wire.ts";

describe("the modern server: subscriptions", () => {
  const listen = async (
    server: ReturnType<typeof createModernServer>,
    id: number | string,
    notifications: JsonObject,
  ) => {
    const response = await server.fetch(modernRequest("subscriptions/listen", { notifications }, { id }));
    return eventReader(response);
  };
  const tag = (message: JsonObject) =>
    objectAt(objectAt(message, "params"), "_meta")["io.modelcontextprotocol/subscriptionId"];

  test("acknowledges first, tags by id, tells only what was asked for, and ends with a result", async () => {
    const server = createModernServer();
    const reader = await listen(server, 5, { toolsListChanged: true, resourceSubscriptions: ["test://watched"] });
    const first = await reader.message();
    assertEquals(first.method, "notifications/subscriptions/acknowledged");
    assertEquals(tag(first), 5);
    await until(() => server.listeners() === 1);
    server.emit({ type: "prompts" });
    server.emit({ type: "resource", uri: "test://other" });
    server.emit({ type: "tools" });
    server.emit({ type: "resource", uri: "test://watched" });
    const second = await reader.message();
    assertEquals([second.method, tag(second)], ["notifications/tools/list_changed", 5]);
    assertEquals(objectAt(await reader.message(), "params").uri, "test://watched");
    server.endSubscriptions();
    const last = await reader.message();
    assertEquals([last.id, objectAt(last, "result").resultType], [5, "complete"]);
    assertEquals(await reader.next(), undefined);
    assertEquals(server.listeners(), 0);
  });

  test("a drop closes without a result, and a reader that leaves is forgotten", async () => {
    const server = createModernServer();
    const reader = await listen(server, "a", { toolsListChanged: true });
    await reader.message();
    await until(() => server.listeners() === 1);
    server.dropSubscriptions();
    assertEquals(await reader.next(), undefined);
    const other = await listen(server, "b", {});
    await other.message();
    await other.cancel();
    await until(() => server.listeners() === 0);
  });
});

describe("the modern server: the tasks extension", () => {
  const meta = modernMeta({ extensions: { "io.modelcontextprotocol/tasks": {} } });

  test("runs at once for those who did not declare it", async () => {
    const server = createModernServer();
    const reply = await callModern(server, "tools/call", { name: "job", arguments: { text: "quick" } });
    assertEquals([resultOf(reply).resultType, textOf(resultOf(reply))], ["complete", "quick"]);
    assertEquals(codeOf(await callModern(server, "tools/call", { name: "job_required" })), -32021);
    assertEquals(codeOf(await callModern(server, "tasks/get", { taskId: "x" })), -32021);
    assertEquals(codeOf(await callModern(server, "tasks/result", { taskId: "x" }, { meta })), -32601);
    const notifications = { taskIds: ["x"] };
    assertEquals(codeOf(await callModern(server, "subscriptions/listen", { notifications })), -32021);
  });

  test("goes from working over input_required to completed, and tells who listens", async () => {
    const server = createModernServer();
    const created = resultOf(
      await callModern(server, "tools/call", { name: "job", arguments: { polls: 1, ask: true } }, { meta }),
    );
    assertEquals([created.resultType, created.status], ["task", "working"]);
    const taskId = String(created.taskId);
    const notifications = { taskIds: [taskId] };
    const reader = eventReader(
      await server.fetch(modernRequest("subscriptions/listen", { notifications }, { id: 3, meta })),
    );
    await reader.message();
    const get = async () => resultOf(await callModern(server, "tasks/get", { taskId }, { meta }));
    assertEquals((await get()).status, "working");
    const waiting = await get();
    assertEquals([waiting.status, waiting.resultType], ["input_required", "complete"]);
    const [key = ""] = Object.keys(objectAt(waiting, "inputRequests"));
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } }, unknown: {} };
    const empty = resultOf(await callModern(server, "tasks/update", { taskId, inputResponses }, { meta }));
    assertEquals(empty.status, undefined);
    const done = await get();
    assertEquals([done.status, textOf(objectAt(done, "result"))], ["completed", 'job done for {"name":"Ada"}']);
    const told = [await reader.message(), await reader.message(), await reader.message()];
    assertEquals(told.map((message) => objectAt(message, "params").status), ["input_required", "working", "completed"]);
    await reader.cancel();
  });

  test("fails, is cancelled, and is unknown", async () => {
    const server = createModernServer();
    const start = async (args: JsonObject) =>
      String(resultOf(await callModern(server, "tools/call", { name: "job", arguments: args }, { meta })).taskId);
    const failing = await start({ polls: 0, fail: true });
    const state = resultOf(await callModern(server, "tasks/get", { taskId: failing }, { meta }));
    assertEquals([state.status, objectAt(state, "error").code], ["failed", -32603]);
    const taskId = await start({ polls: 100 });
    assertEquals(resultOf(await callModern(server, "tasks/cancel", { taskId }, { meta })).resultType, "complete");
    assertEquals(resultOf(await callModern(server, "tasks/get", { taskId }, { meta })).status, "cancelled");
    assertEquals(codeOf(await callModern(server, "tasks/get", { taskId: "none" }, { meta })), -32602);
    const reply = await callModern(server, "tasks/get", { taskId }, { meta, headers: { "mcp-name": "other" } });
    assertEquals(codeOf(reply), -32020);
  });
});
