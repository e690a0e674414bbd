/**
 * What a running test server has to do, whichever runtime serves it and whichever asks.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { isJsonObject, type JsonObject, objectAt } from "../servers/core/wire.ts";
import { openWebSocket } from "../support/open_socket.ts";
import {
  eventReader,
  handshake,
  modernMeta,
  modernRequest,
  postLegacy,
  readReply,
  resultOf,
  textOf,
} from "./support.ts";

const echo = { name: "echo", arguments: { text: "hi" } };

/** Calls one path with a correct modern request. */
export async function callAt(base: string, path: string, method: string = "tools/call"): Promise<Response> {
  const request = modernRequest(method, method === "tools/call" ? echo : {}, { id: 4 });
  const init = { method: "POST", headers: request.headers, body: await request.text() };
  return await fetch(base + path, { ...init, redirect: "manual" });
}

/** Asks the test server what one of its peers has seen. */
export async function ledgerAt(base: string, path: string, command?: JsonObject): Promise<JsonObject> {
  const init = command === undefined ? {} : { method: "POST", body: JSON.stringify(command) };
  const response = await fetch(`${base}/control${path}`, init);
  const state: unknown = await response.json();
  return isJsonObject(state) ? state : {};
}

/** Every kind of peer answers at its path. */
export async function checkPaths(base: string, name: string): Promise<void> {
  assertEquals(await (await fetch(`${base}/health`)).text(), "ok");
  assertEquals(textOf(resultOf(await readReply(await callAt(base, `/modern@${name}/mcp`)))), "hi");
  const target = (path: string) => ({ fetch: (request: Request) => fetch(new Request(base + path, request)) });
  for (
    const [path, revision] of [[`/legacy@${name}/mcp`, "2025-11-25"], [
      `/legacy@${name}/2025-03-26/mcp`,
      "2025-03-26",
    ]] as const
  ) {
    const { headers, result } = await handshake(target(path), { revision });
    assertEquals(result.protocolVersion, revision);
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: echo };
    assertEquals(textOf(resultOf(await readReply(await postLegacy(target(path), body, headers)))), "hi");
    assertEquals((await ledgerAt(base, path)).sessions, 1);
  }
  const old = eventReader(await fetch(`${base}/sse2024@${name}/sse`));
  const endpoint = (await old.next())?.data ?? "";
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const headers = { "content-type": "application/json" };
  const accepted = await fetch(new URL(endpoint, base), { method: "POST", headers, body: JSON.stringify(ping) });
  assertEquals([accepted.status, await accepted.text()], [202, "Accepted"]);
  assertEquals(objectAt(await old.message(), "result"), {});
  await old.cancel();
  const spoilt = await callAt(base, `/hostile@${name}/http-503-1/modern/mcp`);
  assertEquals([spoilt.status, await spoilt.text()], [503, "later"]);
  assertEquals((await ledgerAt(base, `/hostile@${name}/http-503-1/modern/mcp`)).hits, 1);
  for (const path of ["/nothing", "/hostile/nothing/modern/mcp", "/control/nothing"]) {
    const missing = await fetch(base + path);
    assertEquals([missing.status, await missing.text()], [404, "Not Found"]);
  }
}

/** Options come from the query of the first request, ledgers are apart, and a listener can be told something. */
export async function checkControl(base: string, name: string): Promise<void> {
  const path = `/modern@${name}-control/mcp`;
  const streamed = await callAt(base, `${path}?reply=sse&pageSize=3`);
  assertEquals(streamed.headers.get("content-type"), "text/event-stream");
  await streamed.text();
  const { tools } = resultOf(await readReply(await callAt(base, path, "tools/list")));
  assertEquals(Array.isArray(tools) ? tools.length : 0, 3);
  const state = await ledgerAt(base, path);
  assertEquals([state.calls, state.violations], [{ echo: 1 }, []]);
  const params = { notifications: { toolsListChanged: true } };
  const request = modernRequest("subscriptions/listen", params, { id: 7 });
  const init = { method: "POST", headers: request.headers, body: await request.text() };
  const reader = eventReader(await fetch(base + path, init));
  await reader.message();
  assertEquals((await ledgerAt(base, path, { action: "emit", type: "tools" })).listeners, 1);
  assertEquals((await reader.message()).method, "notifications/tools/list_changed");
  await ledgerAt(base, path, { action: "endSubscriptions" });
  assertEquals((await reader.message()).id, 7);
  assertEquals(await reader.next(), undefined);
}

/** A socket speaks the era that its path names, and nothing without the subprotocol. */
export async function checkWebSocket(base: string, name: string): Promise<void> {
  const url = base.replace("http:", "ws:");
  const socket = await openWebSocket(`${url}/ws@${name}`, { protocols: ["mcp"] });
  const messages: JsonObject[] = [];
  let wake = () => {};
  socket.addEventListener("message", ({ data }) => {
    const value: unknown = JSON.parse(String(data));
    if (isJsonObject(value)) messages.push(value);
    wake();
  });
  assertEquals(socket.protocol, "mcp");
  const next = async (): Promise<JsonObject> => {
    while (messages.length === 0) await new Promise<void>((resolve) => wake = resolve);
    return messages.shift() ?? {};
  };
  const send = (message: JsonObject) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  send({ id: 1, method: "tools/call", params: { ...echo, _meta: modernMeta() } });
  assertEquals(textOf(objectAt(await next(), "result")), "hi");
  const clientInfo = { name: "plain", version: "1" };
  send({ id: 2, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
  assertEquals(objectAt(await next(), "result").protocolVersion, "2025-11-25");
  const state = await ledgerAt(base, `/ws@${name}`);
  assertEquals([state.connections, state.calls], [1, { echo: 1 }]);
  socket.close();
  const bare = await fetch(`${base}/ws@${name}`);
  assert(bare.status === 426, `${bare.status}`);
  await bare.text();
}
