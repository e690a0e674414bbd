import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, test } from "node:test";
import { createLegacyServer } from "../servers/legacy.ts";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";
import {
  codeOf,
  eventReader,
  getLegacy,
  handshake,
  postLegacy,
  readReply,
  resultOf,
  textOf,
  until,
} from "./support.ts";

const call = (id: number | string, name: string, args: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: args, ...more },
});
const request = (id: number, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

describe("the legacy server: sessions", () => {
  test("lives from initialize to DELETE", async () => {
    const server = createLegacyServer();
    const { headers, result } = await handshake(server);
    assertEquals(result.protocolVersion, "2025-11-25");
    assertMatch(headers["mcp-session-id"] ?? "", /^[\x21-\x7e]{16,}$/);
    const reply = await readReply(await postLegacy(server, call(1, "echo", { text: "hi" }), headers));
    assertEquals(textOf(resultOf(reply)), "hi");
    assertEquals(server.calls("echo"), 1);
    assertEquals(server.violations, []);
    const gone = await server.fetch(new Request("http://fake.test/mcp", { method: "DELETE", headers }));
    assertEquals(gone.status, 204);
    assertEquals((await postLegacy(server, call(2, "echo", { text: "hi" }), headers)).status, 404);
    assertEquals(server.calls("echo"), 1);
    assertEquals(server.sessionIds(), []);
  });

  test("400 without a session id, 404 with one that was forgotten, 405 where there is no stream", async () => {
    const server = createLegacyServer({ getStream: false, deletable: false });
    const { headers } = await handshake(server);
    assertEquals((await postLegacy(server, call(1, "echo", { text: "hi" }))).status, 400);
    assertEquals((await getLegacy(server, headers)).status, 405);
    const removal = await server.fetch(new Request("http://fake.test/mcp", { method: "DELETE", headers }));
    assertEquals(removal.status, 405);
    server.forgetSessions();
    assertEquals((await postLegacy(server, call(2, "echo", { text: "hi" }), headers)).status, 404);
    const again = await handshake(server);
    assert(again.headers["mcp-session-id"] !== headers["mcp-session-id"]);
  });

  test("answers server/discover as servers of its time do", async () => {
    const probe = request(1, "server/discover");
    const seen: unknown[] = [];
    for (const answer of ["bad-request", "not-found", "method-not-allowed", "rpc-error", "html", "empty"] as const) {
      const reply = await readReply(await postLegacy(createLegacyServer({ probe: answer }), probe));
      seen.push([reply.status, codeOf(reply)]);
    }
    assertEquals(seen, [
      [400, -32000],
      [404, undefined],
      [405, undefined],
      [200, -32601],
      [400, undefined],
      [400, undefined],
    ]);
  });

  test("agrees on a version, and holds the client to it", async () => {
    const server = createLegacyServer({ revision: "2025-06-18", revisions: ["2025-06-18", "2025-03-26"] });
    assertEquals((await handshake(server)).result.protocolVersion, "2025-06-18");
    const { headers, result } = await handshake(server, { revision: "2025-03-26" });
    assertEquals(result.protocolVersion, "2025-03-26");
    const other = { ...headers, "mcp-protocol-version": "2025-06-18" };
    assertEquals((await postLegacy(server, request(1, "ping"), other)).status, 400);
    const modern = await handshake(createLegacyServer(), { revision: "2026-07-28" });
    assertEquals(modern.result.protocolVersion, "2025-11-25");
  });

  test("writes down missing headers, used ids and calls before initialized", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    await postLegacy(server, request(1, "tools/list"), { "mcp-session-id": headers["mcp-session-id"] ?? "" });
    await readReply(await postLegacy(server, request(1, "ping"), headers));
    await postLegacy(server, { jsonrpc: "2.0", id: 77, result: {} }, headers);
    assertEquals(server.violations.length, 3);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } };
    const early = await postLegacy(server, request(1, "initialize", params));
    const session = { ...headers, "mcp-session-id": early.headers.get("mcp-session-id") ?? "" };
    await readReply(await postLegacy(server, request(2, "tools/list"), session));
    assertMatch(server.violations[3] ?? "", /before notifications\/initialized/);
  });

  test("older revisions list what they know", async () => {
    const tools = async (revision: string) => {
      const server = createLegacyServer({ revision });
      const { headers } = await handshake(server, { revision });
      const result = resultOf(await readReply(await postLegacy(server, request(1, "tools/list"), headers)));
      return new Map(
        (Array.isArray(result.tools) ? result.tools : []).filter(isJsonObject).map((tool) => [tool.name, tool]),
      );
    };
    const newest = await tools("2025-11-25");
    assertEquals(objectAt(newest.get("job") ?? {}, "execution").taskSupport, "optional");
    assert(newest.get("add")?.outputSchema !== undefined && newest.get("any_value")?.outputSchema === undefined);
    const oldest = await tools("2024-11-05");
    const echo = oldest.get("echo") ?? {};
    assertEquals(Object.keys(echo).sort(), ["description", "inputSchema", "name"]);
  });
});

describe("the legacy server: streams", () => {
  test("begins with an id, no data and a retry time; ids never repeat in a session", async () => {
    const server = createLegacyServer({ retry: 25 });
    const { headers } = await handshake(server);
    const ids: unknown[] = [];
    for (const id of [1, 2]) {
      const reply = await readReply(await postLegacy(server, call(id, "echo", { text: "x" }), headers));
      assertEquals([reply.events[0]?.data, reply.events[0]?.retry], ["", "25"]);
      ids.push(...reply.events.map((event) => event.id));
    }
    assertEquals(new Set(ids).size, ids.length);
  });

  test("a stream that ends early is resumed by its last event id", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const first = await readReply(await postLegacy(server, call(1, "reconnect", { text: "later" }), headers));
    assertEquals(first.messages, []);
    const id = first.events.at(-1)?.id ?? "";
    const second = await readReply(await getLegacy(server, { ...headers, "last-event-id": id }));
    assertEquals([second.messages[0]?.id, textOf(resultOf(second))], [1, "later"]);
    const again = await readReply(await getLegacy(server, { ...headers, "last-event-id": id }));
    assertEquals(again.messages, second.messages);
    const seen = second.events.at(-1)?.id ?? "";
    const nothing = await readReply(await getLegacy(server, { ...headers, "last-event-id": seen }));
    assertEquals(nothing.messages, []);
    const unknown = await getLegacy(server, { ...headers, "last-event-id": "s99_1" });
    assertEquals(unknown.status, 400);
  });

  test("a broken stream loses nothing, and replays only what was not seen, only its own", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const token = { _meta: { progressToken: 7 } };
    const wait = call(1, "progress", { count: 2, milliseconds: 5 }, token);
    const reader = eventReader(await postLegacy(server, wait, headers));
    let last = await reader.next();
    while (last?.data === "") last = await reader.next();
    server.dropStreams("break");
    const other = await readReply(await postLegacy(server, call(2, "echo", { text: "other" }), headers));
    assertEquals(other.messages.length, 1);
    const resumed = await readReply(await getLegacy(server, { ...headers, "last-event-id": last?.id ?? "" }));
    assertEquals(resumed.messages.map((message) => message.id ?? objectAt(message, "params").progress), [2, 1]);
  });

  test("a client that leaves has not cancelled; a notice does", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const left = eventReader(await postLegacy(server, call(1, "slow"), headers));
    const priming = await left.next();
    await left.cancel();
    assertEquals(server.cancellations, []);
    assertEquals(server.release(), 1);
    const resumed = await readReply(await getLegacy(server, { ...headers, "last-event-id": priming?.id ?? "" }));
    assertEquals(textOf(resultOf(resumed)), "done");
    const running = eventReader(await postLegacy(server, call(2, "slow"), headers));
    const params = { requestId: 2, reason: "enough" };
    await postLegacy(server, { jsonrpc: "2.0", method: "notifications/cancelled", params }, headers);
    while (await running.next() !== undefined);
    assertEquals(server.cancellations, [{ id: 2, method: "tools/call", reason: "enough" }]);
  });

  test("the GET stream carries changes; there is one", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const reader = eventReader(await getLegacy(server, headers));
    assertEquals(server.getStreams(), 1);
    assertEquals((await getLegacy(server, headers)).status, 409);
    await postLegacy(server, request(1, "resources/subscribe", { uri: "test://watched" }), headers);
    server.emit({ type: "resource", uri: "test://text" });
    server.emit({ type: "resource", uri: "test://watched" });
    server.emit({ type: "tools" });
    assertEquals(objectAt(await reader.message(), "params").uri, "test://watched");
    assertEquals((await reader.message()).method, "notifications/tools/list_changed");
    await reader.cancel();
    await until(() => server.getStreams() === 0);
    server.emit({ type: "prompts" });
    const again = eventReader(await getLegacy(server, headers));
    assertEquals((await again.message()).method, "notifications/prompts/list_changed");
    await again.cancel();
  });

  test("log messages respect the level that was set", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const send = async (id: number) =>
      (await readReply(await postLegacy(server, call(id, "log", { level: "info" }), headers))).messages.length;
    assertEquals(await send(1), 2);
    await postLegacy(server, request(2, "logging/setLevel", { level: "error" }), headers);
    assertEquals(await send(3), 1);
    const bad = await readReply(await postLegacy(server, request(4, "logging/setLevel", { level: "loud" }), headers));
    assertEquals(codeOf(bad), -32602);
  });
});

describe("the legacy server: its own requests", () => {
  const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
  const answering = async (name: string, answer: JsonObject, reply: "sse" | "json" | "auto" = "sse") => {
    const server = createLegacyServer({ reply });
    const { headers } = await handshake(server, { capabilities });
    const stream = reply === "json" ? eventReader(await getLegacy(server, headers)) : undefined;
    const response = postLegacy(server, call(1, name), headers);
    const reader = stream ?? eventReader(await response);
    const asked = await reader.message();
    const accepted = await postLegacy(server, { jsonrpc: "2.0", id: asked.id, ...answer }, headers);
    assertEquals([accepted.status, await accepted.text()], [202, ""]);
    const last = stream === undefined ? await reader.message() : (await readReply(await response)).messages[0] ?? {};
    await stream?.cancel();
    return { asked, last, server };
  };

  test("come on the stream of the call, with ids of their own", async () => {
    const content = { name: "Ada" };
    const { asked, last, server } = await answering("ask", { result: { action: "accept", content } });
    assertEquals([asked.id, asked.method], [1, "elicitation/create"]);
    assertEquals([last.id, textOf(objectAt(last, "result"))], [1, '["Ada"]']);
    assertEquals(server.violations, []);
  });

  test("come on the GET stream when replies are JSON", async () => {
    const { asked, last } = await answering("list_roots", { result: { roots: [{ uri: "file:///x" }] } }, "json");
    assertEquals(asked.method, "roots/list");
    assertEquals(textOf(objectAt(last, "result")), '{"roots":[{"uri":"file:///x"}]}');
  });

  test("ping, and a refusal becomes a failed tool", async () => {
    assertEquals((await answering("ping_client", { result: {} }, "auto")).asked.method, "ping");
    const { last } = await answering("sample", { error: { code: -1, message: "no" } });
    assertEquals(objectAt(last, "result").isError, true);
  });

  test("are not sent for what was not declared", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    for (const [id, name] of [[1, "ask"], [2, "sample"], [3, "list_roots"]] as const) {
      const reply = await readReply(await postLegacy(server, call(id, name), headers));
      assertEquals([reply.messages.length, resultOf(reply).isError], [1, true]);
    }
  });

  test("a page has to be visited first (-32042), until the elicitation is complete", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server, { capabilities });
    const refused = await readReply(await postLegacy(server, call(1, "ask_url"), headers));
    assertEquals(codeOf(refused), -32042);
    server.session()?.completeElicitation("sign-1");
    const reader = eventReader(await getLegacy(server, headers));
    assertEquals((await reader.message()).method, "notifications/elicitation/complete");
    await reader.cancel();
    const reply = await readReply(await postLegacy(server, call(2, "ask_url"), headers));
    assertEquals(textOf(resultOf(reply)), "signed");
  });
});

describe("the legacy server: batches and tasks", () => {
  test("2025-03-26 takes a batch and may answer with one; later revisions refuse it", async () => {
    const items = [
      call(1, "echo", { text: "a" }),
      { jsonrpc: "2.0", method: "notifications/x" },
      call(2, "echo", { text: "b" }),
    ];
    for (const options of [{ reply: "json" }, { reply: "sse" }, { reply: "sse", batchReplies: true }] as const) {
      const server = createLegacyServer({ revision: "2025-03-26", ...options });
      const { headers } = await handshake(server, { revision: "2025-03-26" });
      const reply = await readReply(await postLegacy(server, items, headers));
      assertEquals(reply.messages.map((message) => message.id), [1, 2]);
      assertEquals(reply.text.includes("["), true);
    }
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    assertEquals((await postLegacy(server, items, headers)).status, 400);
    assertEquals(server.calls("echo"), 0);
  });

  test("a task is polled, asks on the stream of tasks/result, and gives the result with its mark", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server, { capabilities: { elicitation: {} } });
    const ask = async (body: JsonObject) => await readReply(await postLegacy(server, body, headers));
    const created = resultOf(await ask(call(1, "job", { ask: true, polls: 1 }, { task: { ttl: 1_000 } })));
    const task = objectAt(created, "task");
    assertEquals([task.status, task.ttl], ["working", 1_000]);
    const taskId = String(task.taskId);
    assertEquals(resultOf(await ask(request(2, "tasks/get", { taskId }))).status, "working");
    assertEquals(resultOf(await ask(request(3, "tasks/get", { taskId }))).status, "input_required");
    const reader = eventReader(await postLegacy(server, request(4, "tasks/result", { taskId }), headers));
    const asked = await reader.message();
    const related = { "io.modelcontextprotocol/related-task": { taskId } };
    assertEquals([asked.method, objectAt(objectAt(asked, "params"), "_meta")], ["elicitation/create", related]);
    const result = { action: "accept", content: { name: "Ada" } };
    await postLegacy(server, { jsonrpc: "2.0", id: asked.id, result }, headers);
    const last = await reader.message();
    assertEquals([textOf(objectAt(last, "result")), last.id], ['job done for {"name":"Ada"}', 4]);
    assertEquals(objectAt(objectAt(last, "result"), "_meta"), related);
    assertEquals(codeOf(await ask(request(5, "tasks/cancel", { taskId }))), -32602);
    const { tasks } = resultOf(await ask(request(6, "tasks/list")));
    assertEquals(Array.isArray(tasks) ? tasks.length : 0, 1);
  });

  test("holds to taskSupport", async () => {
    const server = createLegacyServer();
    const { headers } = await handshake(server);
    const code = async (body: JsonObject) => codeOf(await readReply(await postLegacy(server, body, headers)));
    assertEquals(await code(call(1, "echo", { text: "x" }, { task: {} })), -32601);
    assertEquals(await code(call(2, "job_required")), -32601);
    assertEquals(await code(call(3, "nothing", {}, { task: {} })), -32602);
    assertEquals(await code(request(4, "tasks/get", { taskId: "none" })), -32602);
    assertEquals(server.calls("echo"), 0);
  });
});
