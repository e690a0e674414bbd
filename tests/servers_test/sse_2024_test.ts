import { assert, assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { createSse2024Server } from "../servers/sse_2024.ts";
import { objectAt } from "../servers/core/wire.ts";
import { eventReader, textOf, until } from "./support.ts";

const address = "http://fake.test/old/sse";

function post(server: ReturnType<typeof createSse2024Server>, url: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return server.fetch(new Request(url, { method: "POST", headers, body: JSON.stringify(body) }));
}

describe("the HTTP+SSE server of 2024-11-05", () => {
  test("names its endpoint first, takes messages there, and answers on the stream", async () => {
    const server = createSse2024Server();
    const reader = eventReader(await server.fetch(new Request(address)));
    const endpoint = await reader.next();
    assertEquals(endpoint?.event, "endpoint");
    assert(endpoint?.data !== undefined && endpoint.data.startsWith("/old/messages?sessionId="));
    const url = new URL(endpoint.data, address).href;
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "plain", version: "1" } };
    const accepted = await post(server, url, { jsonrpc: "2.0", id: 0, method: "initialize", params });
    assertEquals(accepted.status, 202);
    assertEquals(objectAt(await reader.message(), "result").protocolVersion, "2024-11-05");
    await post(server, url, { jsonrpc: "2.0", method: "notifications/initialized" });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "hi" } } };
    await post(server, url, call);
    assertEquals(textOf(objectAt(await reader.message(), "result")), "hi");
    server.emit({ type: "tools" });
    assertEquals((await reader.message()).method, "notifications/tools/list_changed");
    assertEquals(server.violations, []);
    await reader.cancel();
    await until(() => server.streams() === 0);
    assertEquals((await post(server, url, call)).status, 404);
    assertEquals(server.calls("echo"), 1);
  });

  test("refuses a POST to the stream, and can name a foreign endpoint", async () => {
    const server = createSse2024Server({ endpoint: "foreign", postStatus: 404 });
    assertEquals((await post(server, address, {})).status, 404);
    const reader = eventReader(await server.fetch(new Request(address)));
    assertEquals(new URL((await reader.next())?.data ?? "").hostname, "other.invalid");
    server.dropStreams();
    assertEquals(await reader.next(), undefined);
  });
});
