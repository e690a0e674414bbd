/**
 * Replies that are not of the class `Response`: those of the package `undici` or another realm, and what `Response.json` and `fetch` give
 * where a library has put a class of its own in the place of the global one (`@hono/node-server` does).
 */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import { InvalidRequestError } from "../../src/protocol/mod.ts";
import {
  createHandler,
  createModernHandler,
  createSocketEndpoint,
  McpServer,
  perCaller,
} from "../../src/server/mod.ts";
import { modernPost, post, rpc } from "./http/support.ts";

/** Has a reply of the runtime's own class judged where another class is in its place. */
async function elsewhere(run: (refuse: () => Response) => Promise<void>): Promise<void> {
  const own = globalThis.Response;
  globalThis.Response = class extends own {};
  try {
    await run(() => own.json({ error: "sign in" }, { status: 401 }));
  } finally {
    globalThis.Response = own;
  }
}

function createServer(): { server: McpServer; ran: () => number } {
  let count = 0;
  const server = new McpServer({ name: "sample", version: "1.0.0" });
  server.tool("open", {}, () => String(++count));
  return { server, ran: () => count };
}

describe("what auth refuses by a reply of another class", () => {
  for (const [name, create] of Object.entries({ createHandler, createModernHandler })) {
    test(`is refused by ${name}`, async () => {
      await elsewhere(async (refuse) => {
        const { server, ran } = createServer();
        const handler = create(server, { auth: refuse });
        assertEquals((await handler(modernPost("tools/call", { name: "open", arguments: {} }))).status, 401);
        const initialize = rpc("initialize", 1, { protocolVersion: "2025-11-25", capabilities: {} });
        const reply = await handler(post(initialize, { origin: "http://localhost:5173" }));
        assertEquals([reply.status, reply.headers.get("mcp-session-id")], [401, null]);
        assertEquals(await reply.json(), { error: "sign in" });
        assertEquals(ran(), 0);
        handler.close();
      });
    });
  }

  test("is refused over WebSocket", async () => {
    await elsewhere(async (refuse) => {
      const endpoint = createSocketEndpoint(createServer().server, { auth: refuse });
      const headers = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
      const admitted = await endpoint.admit(new Request("http://localhost/mcp", { headers }));
      assert(typeof admitted !== "function", "the request was let in");
      assertEquals(admitted.status, 401);
    });
  });

  test("is refused over WebSocket also where `complete` gives it to whom there is no server for", async () => {
    await elsewhere(async (refuse) => {
      const auth = Object.assign(() => ({ principal: "ada" }), { complete: refuse });
      const servers = perCaller(() => {
        throw new InvalidRequestError("Not for you", { rpcCode: -32600 });
      });
      const endpoint = createSocketEndpoint(servers, { auth });
      const headers = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
      const admitted = await endpoint.admit(new Request("http://localhost/mcp", { headers }));
      assert(typeof admitted !== "function", "the request was let in");
      assertEquals(admitted.status, 401);
    });
  });
});

describe("what auth gives that is neither a caller nor a reply, as a program without types may", () => {
  for (const odd of [false, true, 0, "", "ada"]) {
    test(`lets nobody in: ${JSON.stringify(odd)}`, async () => {
      const { server, ran } = createServer();
      const auth = () => odd as unknown as undefined;
      for (const create of [createHandler, createModernHandler]) {
        const handler = create(server, { auth });
        const response = await handler(modernPost("tools/call", { name: "open", arguments: {} }));
        assertEquals([response.status, ran()], [500, 0]);
        handler.close();
      }
      const headers = { upgrade: "websocket", connection: "upgrade", "sec-websocket-protocol": "mcp" };
      const endpoint = createSocketEndpoint(server, { auth });
      const admitted = await endpoint.admit(new Request("http://localhost/mcp", { headers }));
      assert(typeof admitted !== "function", "the request was let in");
      assertEquals(admitted.status, 500);
    });
  }
});
