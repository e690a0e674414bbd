/** The object of a WebSocket, on a socket in memory: what it keeps with the socket. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { SocketObject } from "../../workers/socket_object.ts";

type State = ConstructorParameters<typeof SocketObject>[0];
type Socket = ReturnType<State["getWebSockets"]>[number];

test("a conversation that changes its mind for hours is neither ended nor forgotten", async () => {
  const headers = [["upgrade", "websocket"], ["sec-websocket-protocol", "mcp"]];
  let attachment: unknown = { url: "http://localhost/mcp", headers, messages: [] };
  const answers: unknown[] = [];
  let closed: number | undefined;
  const socket: Socket = {
    readyState: 1,
    protocol: "mcp",
    send: (text) => void answers.push(JSON.parse(String(text)).id),
    close: (code) => void (closed = code),
    serializeAttachment: (value) => void (attachment = structuredClone(value)),
    deserializeAttachment: () => attachment,
  };
  const nobody = { newUniqueId: () => "", idFromString: () => "", get: () => ({ fetch: () => Promise.reject() }) };
  const state: State = { acceptWebSocket() {}, getWebSockets: () => [socket] };
  const object = new SocketObject(state, { SESSIONS: nobody, SOCKETS: nobody });
  const send = (message: object) => object.webSocketMessage(socket, JSON.stringify({ jsonrpc: "2.0", ...message }));
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  await send({ id: 0, method: "initialize", params });
  await send({ method: "notifications/initialized" });
  for (let id = 1; id <= 300; id += 3) {
    await send({ id, method: "logging/setLevel", params: { level: id % 2 ? "info" : "error" } });
    await send({ id: id + 1, method: "resources/subscribe", params: { uri: "about://sample" } });
    await send({ id: id + 2, method: "resources/unsubscribe", params: { uri: "about://sample" } });
  }
  while (answers.length < 301) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(closed, undefined);
  const methods = (attachment as { messages: string[] }).messages.map((text) => JSON.parse(text).method);
  assertEquals(methods, ["initialize", "notifications/initialized", "logging/setLevel"]);
  await object.webSocketClose(socket, 1000, "");
});

test("what cannot be kept with a socket ends it, and is not thrown at the runtime", async () => {
  const headers = [["upgrade", "websocket"], ["sec-websocket-protocol", "mcp"]];
  const kept = { url: "http://localhost/mcp", headers, messages: [] };
  let closed: number | undefined;
  const socket: Socket = {
    readyState: 1,
    protocol: "mcp",
    send() {},
    close: (code) => void (closed = code),
    // The runtime counts bytes: letters outside of Latin-1 take two of them each.
    serializeAttachment: (value) => {
      if (2 * JSON.stringify(value).length > 16_384) throw new Error("serializeAttachment: larger than 16384 bytes");
    },
    deserializeAttachment: () => kept,
  };
  const nobody = { newUniqueId: () => "", idFromString: () => "", get: () => ({ fetch: () => Promise.reject() }) };
  const state: State = { acceptWebSocket() {}, getWebSockets: () => [socket] };
  const object = new SocketObject(state, { SESSIONS: nobody, SOCKETS: nobody });
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "ж".repeat(9_000), version: "1" },
  };
  await object.webSocketMessage(socket, JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  assertEquals(closed, 1012);
  await object.webSocketClose(socket, 1000, "");
});

test("what calls nothing off and what is no message change nothing of what is kept", async () => {
  const headers = [["upgrade", "websocket"], ["sec-websocket-protocol", "mcp"]];
  let attachment: unknown = { url: "http://localhost/mcp", headers, messages: [] };
  const answers: unknown[] = [];
  const socket: Socket = {
    readyState: 1,
    protocol: "mcp",
    send: (text) => void answers.push(JSON.parse(String(text)).id),
    close() {},
    serializeAttachment: (value) => void (attachment = structuredClone(value)),
    deserializeAttachment: () => attachment,
  };
  const nobody = { newUniqueId: () => "", idFromString: () => "", get: () => ({ fetch: () => Promise.reject() }) };
  const state: State = { acceptWebSocket() {}, getWebSockets: () => [socket] };
  const object = new SocketObject(state, { SESSIONS: nobody, SOCKETS: nobody });
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  for (
    const message of [
      { id: 0, method: "initialize", params },
      { method: "notifications/initialized" },
      { id: 1, method: "resources/subscribe", params: { uri: "about://sample" } },
      // It may be left out since 2025-11-25; and what is answered cannot be called off.
      { method: "notifications/cancelled", params: { reason: "a task" } },
      { method: "notifications/cancelled", params: { requestId: 1 } },
      { id: 1.5, method: "logging/setLevel", params: { level: "error" } },
    ]
  ) await object.webSocketMessage(socket, JSON.stringify({ jsonrpc: "2.0", ...message }));
  while (answers.length < 3) await new Promise((resolve) => setTimeout(resolve, 0));
  const methods = (attachment as { messages: string[] }).messages.map((text) => JSON.parse(text).method);
  assertEquals(methods, ["initialize", "notifications/initialized", "resources/subscribe"]);
  const awake = new SocketObject(state, { SESSIONS: nobody, SOCKETS: nobody });
  await awake.webSocketMessage(socket, JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" }));
  while (answers.length < 4) await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(answers, [0, 1, null, 2]);
  for (const one of [object, awake]) await one.webSocketClose(socket, 1000, "");
});
