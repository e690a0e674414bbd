/** When the head of a reply goes out that says nothing at first: proxies and clients wait for it, and give up when it does not come. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { serveHttp } from "../../../src/entry/local.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function post(url: string, message: object, more: Record<string, string> = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const signal = AbortSignal.timeout(20_000);
  return await fetch(`${url}/mcp`, { method: "POST", headers: { ...headers, ...more }, body, signal });
}

/** Begins a session of a revision that knows no event without data. */
async function begin(url: string): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "old", version: "1" } };
  const response = await post(url, { id: 1, method: "initialize", params });
  await response.text();
  return { "mcp-session-id": response.headers.get("mcp-session-id") ?? "" };
}

/** A server with a tool that is silent until it is told to end. */
function createSilent() {
  const server = new McpServer({ name: "silent", version: "1.0.0" });
  let end: () => void = () => {};
  const over = new Promise<string>((resolve) => end = () => resolve("done"));
  let start: () => void = () => {};
  const begun = new Promise<void>((resolve) => start = resolve);
  server.tool("wait", {}, () => {
    start();
    return over;
  });
  return { server, begun, end: () => end() };
}

describe("the head of a stream", () => {
  test("that nothing is sent on yet goes out at once", async () => {
    await using host = await serveHttp(createHandler(createSilent().server, { keepAlive: 60_000 }), { port: 0 });
    const session = await begin(host.url);
    const response = await fetch(`${host.url}/mcp`, {
      headers: { accept: "text/event-stream", ...session },
      signal: AbortSignal.timeout(20_000),
    });
    assertEquals(response.headers.get("content-type"), "text/event-stream");
    await response.body?.cancel();
  });

  test("that a silent call becomes goes out when it becomes one", async () => {
    const keepAlive = 5_000;
    const clock = new VirtualClock();
    const silent = createSilent();
    await using host = await serveHttp(createHandler(silent.server, { keepAlive, clock }), { port: 0 });
    const session = await begin(host.url);
    const asked = post(host.url, { id: 2, method: "tools/call", params: { name: "wait" } }, session);
    await silent.begun;
    // The time of one silence, and no more.
    await clock.advance(keepAlive);
    const response = await asked;
    silent.end();
    assert((await response.text()).includes("done"));
  });
});
