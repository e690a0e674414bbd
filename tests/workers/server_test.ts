/** The Worker itself, with objects in memory: what reaches which of them, and what becomes of one that fails. */
import { describe, test } from "node:test";
import { assert, assertEquals } from "@std/assert";
import worker from "../../workers/server.ts";
import type { ServerEnv } from "../../workers/server.ts";

/** What the objects were asked, and how they answer. */
let asked: string[] = [];
let answer = (): Promise<Response> => Promise.resolve(new Response("from the object"));

const namespace: ServerEnv["SESSIONS"] = {
  newUniqueId: () => "new",
  idFromString: (id) => {
    if (id !== "known") throw new TypeError("not of this namespace");
    return id;
  },
  get: (id) => ({
    fetch: (request) => {
      asked.push(`${request.method} ${id}`);
      return answer();
    },
  }),
};
const env: ServerEnv = {
  SESSIONS: namespace,
  SOCKETS: namespace,
  ALLOWED_HOSTS: "localhost",
  ALLOWED_ORIGINS: "https://app.example.com",
};
const origin = "https://app.example.com";

async function send(method: string, headers: Record<string, string>, message?: object): Promise<Response> {
  asked = [];
  return await worker.fetch(
    new Request("http://localhost/mcp", {
      method,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      ...(message && { body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }) }),
    }),
    env,
  );
}

const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const modernList = {
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
};
const initialize = {
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

describe("a session id at the Worker", () => {
  test("says nothing to a modern request (S-034)", async () => {
    for (const id of ["known.1", "nonsense"]) {
      const response = await send("POST", { ...modernHeaders, "mcp-session-id": id }, modernList);
      assertEquals([response.status, asked], [200, []], id);
      assert((await response.json()).result.tools.length > 0);
    }
    const got = await send("GET", { "mcp-protocol-version": "2026-07-28", "mcp-session-id": "known.1" });
    assertEquals([got.status, asked], [405, []]);
  });

  test("leads a legacy request to its object", async () => {
    const headers = { "mcp-session-id": "known.1", "mcp-protocol-version": "2025-11-25" };
    assertEquals((await send("POST", headers, { method: "tools/list" })).status, 200);
    assertEquals(asked, ["POST known"]);
    assertEquals((await send("GET", { "mcp-session-id": "known.1" })).status, 200);
    assertEquals(asked, ["GET known"]);
  });

  test("that is none is told to the page that sent it, too", async () => {
    const response = await send("POST", { origin, "mcp-session-id": "nonsense" }, { method: "tools/list" });
    assertEquals([response.status, asked], [404, []]);
    assertEquals(response.headers.get("access-control-allow-origin"), origin);
  });
});

describe("an object that fails", () => {
  const ways: [name: string, method: string, headers: Record<string, string>, message?: object][] = [
    ["a session", "POST", { "mcp-session-id": "known.1" }, { method: "tools/list" }],
    ["a handshake", "POST", {}, initialize],
    ["a stream", "GET", { "mcp-session-id": "known.1" }],
    ["a socket", "GET", { upgrade: "websocket", "sec-websocket-protocol": "mcp" }],
  ];
  for (const [name, method, headers, message] of ways) {
    test(`is answered as JSON-RPC, in words of our own: ${name}`, async () => {
      answer = () => Promise.reject(new Error("Durable Object reset: s3cr3t"));
      const response = await send(method, { origin, ...headers }, message);
      answer = () => Promise.resolve(new Response("from the object"));
      assertEquals(asked.length, 1);
      assertEquals([response.status, response.headers.get("content-type")], [500, "application/json"]);
      assertEquals(response.headers.get("access-control-allow-origin"), origin);
      const { error } = await response.json();
      assertEquals([error.code, error.message], [-32603, "Internal error"]);
    });
  }
});
