/** A hub in the Worker knows when a server is better called through the object. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { openHub, serveHttp } from "../../../src/entry/local.ts";
import { McpError } from "../../../src/protocol/errors.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { createDirectHub } from "../../../workers/direct/direct_hub.ts";
import type { RunnerEnv } from "../../../workers/env.ts";

describe("a server that is called past the object", () => {
  test("is called through it as soon as it wants a sign-in, and again and again where it was down", async () => {
    const server = new McpServer({ name: "data", version: "1.0.0" });
    server.tool("read", {}, () => "it is there");
    const handler = createHandler(server);
    let refused: number | undefined;
    const answer = (request: Request): Promise<Response> =>
      refused ? Promise.resolve(new Response("no", { status: refused })) : handler(request);
    await using host = await serveHttp(answer, { port: 0 });
    const servers = { data: { url: `http://127.0.0.1:${host.port}/mcp` } };
    await using hub = await openHub(servers);
    await hub.callTool({ server: "data", name: "read" });
    const known = hub.catalog().servers;
    const names = [["data__read", "data", "read"]] as const;
    const env = {} as unknown as RunnerEnv;
    const direct = await createDirectHub({ servers: known, names }, { env, tenant: "acme", servers });
    const call = () => direct.callTool({ server: "data", name: "read" }, {}, { throws: true });
    const isThere = () => direct.find("data__read") !== undefined;
    await call();
    assertEquals(isThere(), true);
    refused = 500;
    await assertRejects(call, McpError);
    assertEquals(isThere(), false);
    direct.trust();
    assertEquals(isThere(), true);
    refused = 404;
    await assertRejects(call, McpError);
    assertEquals(isThere(), true);
    for (const status of [401, 403]) {
      const other = await createDirectHub({ servers: known, names }, { env, tenant: "acme", servers });
      refused = status;
      await assertRejects(() => other.callTool({ server: "data", name: "read" }, {}, { throws: true }), McpError);
      assertEquals(other.find("data__read"), undefined, String(status));
      // Only the object can sign in, and it lends no server whose tokens it has.
      other.trust();
      assertEquals(other.find("data__read"), undefined, String(status));
    }
  });

  test("is called through it when it wants sessions by now, and none is left open there", async () => {
    const server = new McpServer({ name: "data", version: "1.0.0" });
    let calls = 0;
    server.tool("read", {}, () => `call ${++calls}`);
    let handler = createHandler(server);
    const open = new Set<string>();
    const answer = async (request: Request): Promise<Response> => {
      const response = await handler(request);
      const id = response.headers.get("mcp-session-id");
      if (id !== null) open.add(id);
      if (request.method === "DELETE") open.delete(request.headers.get("mcp-session-id") ?? "");
      return response;
    };
    await using host = await serveHttp(answer, { port: 0 });
    const servers = { data: { url: `http://127.0.0.1:${host.port}/mcp` } };
    await using hub = await openHub(servers);
    await hub.callTool({ server: "data", name: "read" });
    const names = [["data__read", "data", "read"]] as const;
    const tools = { servers: hub.catalog().servers, names };
    const direct = await createDirectHub(tools, { env: {} as unknown as RunnerEnv, tenant: "acme", servers });
    handler = createHandler(server, { eras: ["legacy"] });
    const { content } = await direct.callTool({ server: "data", name: "read" }, {}, { throws: true });
    assertEquals(content, [{ type: "text", text: "call 2" }]);
    assertEquals([direct.find("data__read"), open.size], [undefined, 0]);
    direct.trust();
    assertEquals(direct.find("data__read"), undefined);
  });
});
