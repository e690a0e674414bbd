/** Streams and sockets end with the proof of who reads them. */
import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { createSocketEndpoint, McpServer } from "../../../src/server/mod.ts";
import type { WebSocketEvent, WebSocketLike } from "../../../src/ports.ts";
import { EventReader, modernPost, post, rpc, send } from "../http/support.ts";
import { challengeOf, guard, metadataUrl, protect, type Protected, sound, token } from "./support.ts";

const at = Date.UTC(2026, 6, 28);
const authorization = `Bearer ${token}`;
/** A token of a minute; the tolerance of clocks is five seconds. */
const brief = { claims: { ...sound, expiresAt: at + 60_000 } };

async function openSession({ handler }: Protected): Promise<Record<string, string>> {
  const opened = await handler(
    post(rpc("initialize", 1, { protocolVersion: "2025-11-25", capabilities: {} }), { authorization }),
  );
  const headers = { authorization, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  await handler(post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers));
  return headers;
}

describe("when the token of an open stream ends", () => {
  test("the legacy GET stream ends, and the session goes on with a new token, without a gap", async () => {
    let expiresAt = at + 60_000;
    const world = protect({ verify: () => ({ ...sound, expiresAt }) });
    const { handler, clock, server } = world;
    const headers = await openSession(world);
    const reader = new EventReader(await handler(send("GET", headers)));
    await reader.next();
    server.tool("one", {}, () => "");
    const told = await reader.next();
    assertEquals(JSON.parse(told?.data ?? "{}").method, "notifications/tools/list_changed");
    await clock.advance(64_999);
    let ended = false;
    const rest = reader.rest().then((events) => {
      ended = true;
      return events;
    });
    await clock.settle();
    assertEquals(ended, false);
    await clock.advance(1);
    assertEquals((await rest).filter(({ data }) => data), []);
    server.tool("two", {}, () => "");
    assertEquals((await handler(send("GET", headers))).status, 401);
    expiresAt = at + 300_000;
    const again = new EventReader(await handler(send("GET", { ...headers, "last-event-id": told?.id ?? "" })));
    const message = await again.message();
    assertEquals(message && "method" in message && message.method, "notifications/tools/list_changed");
    await again.cancel();
  });

  test("so does one that a client came back to", async () => {
    const world = protect(brief);
    const headers = await openSession(world);
    const first = new EventReader(await world.handler(send("GET", headers)));
    const { id = "" } = await first.next() ?? {};
    const second = new EventReader(await world.handler(send("GET", { ...headers, "last-event-id": id })));
    await world.clock.advance(65_000);
    assertEquals((await second.rest()).filter(({ data }) => data), []);
    await first.rest();
  });

  test("a stream whose reader has left keeps no timer", async () => {
    const world = protect(brief);
    const headers = await openSession(world);
    const before = world.clock.waiting;
    const reader = new EventReader(await world.handler(send("GET", headers)));
    await reader.next();
    assertEquals(world.clock.waiting, before + 2);
    await reader.cancel();
    await world.clock.settle();
    assertEquals(world.clock.waiting, before);
  });

  test("a session that lives longer than its stream is not idle at its end", async () => {
    // Half an hour makes a session idle, and who is idle is looked for as often.
    let expiresAt = at + 3_585_000;
    const world = protect({ verify: () => ({ ...sound, expiresAt }) });
    const headers = await openSession(world);
    const reader = new EventReader(await world.handler(send("GET", headers)));
    const rest = reader.rest();
    await world.clock.advance(3_590_000);
    await rest;
    await world.clock.advance(20_000);
    expiresAt = at + 9_000_000;
    assertEquals((await world.handler(post(rpc("ping"), headers))).status, 200);
  });

  test("without an end of the token the stream stays", async () => {
    const world = protect();
    const headers = await openSession(world);
    const reader = new EventReader(await world.handler(send("GET", headers)));
    await reader.next();
    const next = reader.next();
    await world.clock.advance(5_000);
    assertEquals((await next)?.comment, "keep-alive");
    await reader.cancel();
  });

  test("a modern stream of changes ends with its result", async () => {
    const { handler, clock } = protect(brief);
    const notifications = { toolsListChanged: true };
    const reader = new EventReader(
      await handler(modernPost("subscriptions/listen", { notifications }, { authorization })),
    );
    const acknowledged = await reader.message();
    assertEquals(acknowledged && "method" in acknowledged, true);
    const rest = reader.rest();
    await clock.advance(65_000);
    const last = (await rest).filter(({ data }) => data).map(({ data }) => JSON.parse(data ?? "{}"));
    assertEquals(last.map(({ id, result }) => [id, result.resultType]), [[1, "complete"]]);
  });

  test("a WebSocket is closed, and was not opened without a token", async () => {
    const { resource, clock } = guard(brief);
    const server = new McpServer({ name: "private", version: "1.0.0" });
    const endpoint = createSocketEndpoint(server, { auth: resource, clock });
    const upgrade = { upgrade: "websocket", "sec-websocket-protocol": "mcp" };
    const refused = await endpoint.admit(send("GET", upgrade));
    if (!(refused instanceof Response)) throw new Error("it was admitted");
    assertEquals([refused.status, challengeOf(refused).resource_metadata], [401, metadataUrl]);
    const admitted = await endpoint.admit(send("GET", { ...upgrade, authorization }));
    if (admitted instanceof Response) throw new Error("it was refused");
    const socket = new OpenSocket();
    const serving = admitted(socket);
    await clock.advance(64_999);
    assertEquals(socket.closed, undefined);
    await clock.advance(1);
    await serving.closed;
    assertEquals(socket.closed, 1000);
  });
});

/** A socket whose other end says nothing. */
class OpenSocket implements WebSocketLike {
  readyState = 1;
  readonly protocol = "mcp";
  closed: number | undefined;
  readonly #listeners: ((event: WebSocketEvent) => void)[] = [];

  send(): void {}

  close(code?: number): void {
    this.readyState = 3;
    this.closed = code;
    for (const listener of this.#listeners) listener({ code: code ?? 1005 });
  }

  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void {
    if (type === "close") this.#listeners.push(listener);
  }
}
