import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createHandler } from "../../../src/server/http/mod.ts";
import { McpServer } from "../../../src/server/server.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { initialize, post, rpc, world } from "./support.ts";

const cancelled = (requestId: number) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

describe("an array of 2025-03-26", () => {
  test("calls off a request that stands before the cancel in it", async () => {
    const server = new McpServer({ name: "test", version: "1.0.0" });
    const aborted: unknown[] = [];
    server.tool(
      "hangs",
      { input: { type: "object" } },
      ({ at }, { signal }) => new Promise(() => signal.addEventListener("abort", () => aborted.push(at))),
    );
    server.tool("quick", {}, () => "done");
    const clock = new VirtualClock();
    const handler = createHandler(server, { eras: ["legacy"], clock });
    const shake = rpc("initialize", 0, { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: {} });
    const opened = await handler(post(shake));
    await opened.body?.cancel();
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id")! };
    const hangs = (at: number) => rpc("tools/call", at, { name: "hangs", arguments: { at } });
    const batch = [cancelled(2), hangs(1), cancelled(1), rpc("tools/call", 3, { name: "quick" })];
    const response = await clock.until(handler(post(batch, session)));
    const answers = await response.json() as { id: unknown }[];
    assertEquals([answers.map(({ id }) => id), aborted], [[3], [1]]);
    // One that came before its request named nothing.
    const later = handler(post([cancelled(2), hangs(2)], session));
    await clock.settle();
    assertEquals(aborted, [1]);
    // An id that is at work is not taken again.
    const quick = (id: number) => rpc("tools/call", id, { name: "quick" });
    const both = await clock.until(handler(post([quick(2), quick(3)], session)));
    const told = await both.json() as { id: unknown; error?: { code: number } }[];
    assertEquals(told.map(({ id, error }) => [id, error?.code]).sort(), [[2, -32600], [3, undefined]]);
    await handler(post(cancelled(2), session));
    await (await later).body?.cancel();
    handler.close();
  });

  test("is taken in its order", async () => {
    const all = world({ revision: "2025-03-26" });
    const session = await initialize(all);
    const items = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      rpc("a", 1),
      cancelled(1),
      rpc("b", 2),
      cancelled(2),
    ];
    await (await all.handler(post(items, session))).body?.cancel();
    const seen = all.sessions[0]?.seen.slice(1).map((message) => "method" in message && message.method);
    assertEquals(seen, [
      "notifications/initialized",
      "a",
      "b",
      "notifications/cancelled",
      "notifications/cancelled",
    ]);
  });
});
