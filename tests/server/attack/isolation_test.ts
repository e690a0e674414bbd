/** Many clients at once: what one asks, no other is answered. A global `attackCalls`, set before, makes it longer. */
import { describe, test } from "node:test";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { modernMeta, modernPost, post, rpc } from "../http/support.ts";
import { answerOf, call, openSession, stage, textOf } from "./support.ts";

/** How many calls are made in each era. */
const calls = Number((globalThis as { attackCalls?: number }).attackCalls ?? 2_000);
const clients = 50;

/** A tool that says what it was told, some turns later, and tells of it before. */
function createEcho(): McpServer {
  const server = new McpServer({ name: "echo", version: "1" });
  server.tool("echo", { input: { type: "object" } }, async ({ secret }, { progress, auth, meta }) => {
    const turns = Number(String(secret).slice(-1));
    if (turns % 3 === 0) progress({ progress: 1, message: String(secret) });
    for (let turn = 0; turn < turns; turn++) await undefined;
    if (turns === 7) await new Promise((resolve) => setTimeout(resolve, 0));
    return `${auth?.principal} ${secret} ${meta.progressToken}`;
  });
  return server;
}

describe("interleaved calls", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`no client sees another one's answer or progress, ${era}`, async () => {
      const handler = createHandler(createEcho(), {
        auth: ({ headers }) => ({ principal: headers.get("authorization") ?? "nobody" }),
      });
      const sessions: string[] = [];
      if (era === "legacy") {
        for (let client = 0; client < clients; client++) {
          const first = rpc("initialize", 0, { protocolVersion: "2025-11-25", capabilities: {} });
          const response = await handler(post(first, { authorization: `c${client}` }));
          await response.text();
          sessions.push(response.headers.get("mcp-session-id")!);
        }
        assertEquals(new Set(sessions).size, clients);
      }
      let strange = 0;
      const one = async (at: number): Promise<void> => {
        const client = at % clients;
        const secret = `s${at}`;
        // All clients use the same ids and tokens.
        const id = Math.floor(at / clients);
        const params = { name: "echo", arguments: { secret }, _meta: { progressToken: id } };
        const headers: Record<string, string> = { authorization: `c${client}` };
        const response = await handler(
          era === "legacy"
            ? post(rpc("tools/call", id, params), { ...headers, "mcp-session-id": sessions[client]! })
            : modernPost("tools/call", { ...params, _meta: { ...modernMeta(), ...params._meta } }, headers),
        );
        const text = await response.text();
        const sound = text.includes(`"c${client} ${secret} ${id}"`) &&
          [...text.matchAll(/\bs\d+\b/g)].every(([found]) => found === secret);
        if (!sound) strange++;
      };
      const width = 500;
      for (let at = 0; at < calls; at += width) {
        await Promise.all(Array.from({ length: Math.min(width, calls - at) }, (_, more) => one(at + more)));
      }
      assertEquals(strange, 0);
      handler.close();
    });
  }
});

describe("sessions", () => {
  test("are not there for another principal, whatever is sent", async () => {
    const { handler, clock } = stage({ ping: () => "pong" }, {
      auth: ({ headers }) => ({ principal: headers.get("authorization") ?? "nobody" }),
    });
    const first = rpc("initialize", 0, { protocolVersion: "2025-11-25", capabilities: {} });
    const opened = await handler(post(first, { authorization: "alice" }));
    await opened.text();
    const stolen = { "mcp-session-id": opened.headers.get("mcp-session-id")!, authorization: "mallory" };
    const tries = [
      post(rpc("tools/call", 1, { name: "ping" }), stolen),
      post(first, stolen),
      post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, stolen),
      post({ jsonrpc: "2.0", id: "x", result: {} }, stolen),
      new Request("http://localhost/mcp", { headers: { ...stolen, accept: "text/event-stream" } }),
      new Request("http://localhost/mcp", {
        headers: { ...stolen, accept: "text/event-stream", "last-event-id": "1-0" },
      }),
      new Request("http://localhost/mcp", { method: "DELETE", headers: stolen }),
    ];
    for (const request of tries) assertEquals((await handler(request)).status, 404);
    const own = { ...stolen, authorization: "alice" };
    assertEquals(textOf(await answerOf(await handler(post(rpc("tools/call", 1, { name: "ping" }), own)))), [
      "pong",
      false,
    ]);
    assertEquals(clock.waiting, 1);
  });

  test("are never named by a client (fixation)", async () => {
    const { handler } = stage();
    const wanted = "a".repeat(64);
    const first = rpc("initialize", 0, { protocolVersion: "2025-11-25", capabilities: {} });
    const refused = await handler(post(first, { "mcp-session-id": wanted }));
    assertEquals(refused.status, 404);
    assertEquals(refused.headers.get("mcp-session-id"), null);
    const { id } = await openSession({ handler });
    assertNotEquals(id, wanted);
    assert(/^[\da-f]{64}$/.test(id));
  });

  test("by the hundred end when they are idle, and leave no timer and no watcher", async () => {
    const open = stage({ ping: () => "pong" });
    for (let at = 0; at < 300; at++) await openSession(open);
    assertEquals(open.clock.waiting, 1);
    await open.clock.advance(2 * 1_800_000 + 1);
    assertEquals(open.clock.waiting, 0);
  });
});

describe("nothing is left behind", () => {
  test("no listener and no timer after calls in both eras", async () => {
    let listeners = 0;
    const open = stage({ echo: ({ n }, { progress }) => (progress({ progress: 1 }), `${n}`) });
    const session = await openSession(open);
    const counted = (request: Request): Request => {
      const { signal } = request;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      Object.defineProperty(request, "signal", {
        value: Object.assign(signal, {
          addEventListener: (...args: Parameters<typeof add>) => (listeners++, add(...args)),
          removeEventListener: (...args: Parameters<typeof remove>) => (listeners--, remove(...args)),
        }),
      });
      return request;
    };
    for (let at = 0; at < 500; at++) {
      const _meta = { ...modernMeta(), progressToken: 1 };
      const before = listeners;
      await answerOf(
        await open.handler(counted(modernPost("tools/call", { name: "echo", arguments: { n: at }, _meta }))),
      );
      // A listener may be removed once too often, never too rarely.
      assert(listeners <= before, `${listeners} listeners`);
      await session.call("echo", { n: at }, at % 2 ? { progressToken: 1 } : {});
      await call(open, "echo", { n: at });
    }
    assertEquals(open.clock.waiting, 1);
  });
});
