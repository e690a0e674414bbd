import { describe, test } from "node:test";
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { connect } from "../../../mod.ts";
import type { Client } from "../../../src/client/mod.ts";
import { MethodNotFoundError } from "../../../src/protocol/errors.ts";
import { createHandler, createModernHandler, McpServer, ToolServer } from "../../../src/server/mod.ts";
import type { Handler } from "../../../src/server/mod.ts";
import { heldRequest } from "../../support/held_request.ts";

const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

function toolServer(): ToolServer {
  const server = new ToolServer({ name: "small", version: "1.0.0" }, { instructions: "Say something" });
  server.tool("echo", { description: "Says it again", input }, ({ text }) => String(text));
  server.tool("ask", {}, async (_args, { elicit }) => (await elicit({ message: "Sure?" })).action);
  return server;
}

async function withClient(handler: Handler, run: (client: Client) => Promise<void>): Promise<void> {
  const fetch = (url: string, init: RequestInit) => handler(heldRequest(url, init));
  const handlers = { elicitation: () => ({ action: "accept", content: {} }) as const };
  await using client = await connect("http://localhost/mcp", { fetch, handlers });
  await run(client);
  handler.close();
}

function send(handler: Handler, method: string, body?: object): Promise<Response> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return handler(heldRequest("http://localhost/mcp", { method, headers, ...(body && { body: JSON.stringify(body) }) }));
}

describe("a handler for the modern era alone", () => {
  test("serves tools, questions to the client and arguments that do not fit", () =>
    withClient(createModernHandler(toolServer()), async (client) => {
      assertEquals([client.era, client.info?.instructions], ["modern", "Say something"]);
      assertEquals((await client.listTools()).tools.map(({ name }) => name), ["echo", "ask"]);
      assertEquals((await client.callTool("echo", { text: "hi" })).content, [{ type: "text", text: "hi" }]);
      assertEquals((await client.callTool("ask")).content, [{ type: "text", text: "accept" }]);
    }));

  test("arguments are checked", () =>
    withClient(createModernHandler(toolServer()), async (client) => {
      for (const args of [{}, { text: 5 }]) {
        const { isError, content } = await client.callTool("echo", args);
        const [block] = content;
        assert(isError && block?.type === "text" && block.text.includes("the arguments do not fit"));
      }
    }));

  test("serves all that an McpServer offers", async () => {
    const server = new McpServer({ name: "large", version: "1.0.0" });
    server.template("note://{day}", {}, (_uri, { day }) => `for ${day}`);
    await withClient(createModernHandler(server), async (client) => {
      const { contents } = await client.readResource("note://monday");
      assertEquals(contents, [{ uri: "note://monday", mimeType: "text/plain", text: "for monday" }]);
    });
  });

  test("tells a legacy client what is spoken here, and knows no sessions", async () => {
    const handler = createModernHandler(toolServer());
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "old", version: "1" } };
    const response = await send(handler, "POST", { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.data], [400, -32022, {
      supported: ["2026-07-28"],
      requested: "2025-11-25",
    }]);
    for (const method of ["GET", "DELETE"]) {
      const refused = await send(handler, method);
      assertEquals([refused.status, refused.headers.get("allow")], [405, "POST"]);
      await refused.text();
    }
  });

  test("judges its options at once", () => {
    assertThrows(() => createModernHandler(toolServer(), { allowedOrigins: ["evil"] }), TypeError, "evil");
    assertThrows(() => createModernHandler(toolServer(), { secret: "short" }), RangeError, '"secret" has 5 bytes');
    assertThrows(() => createModernHandler(toolServer(), { stateTtl: -1 }), RangeError, '"ttl" is -1');
  });
});

describe("a server of tools alone", () => {
  test("is served in both eras, and has no method but those of tools", async () => {
    for (const era of ["modern", "legacy"] as const) {
      await withClient(createHandler(toolServer(), { eras: [era] }), async (client) => {
        assertEquals(client.era, era);
        assertEquals((await client.callTool("echo", { text: era })).content, [{ type: "text", text: era }]);
        for (const method of ["resources/list", "prompts/list", "completion/complete"]) {
          await assertRejects(() => client.request(method, {}), MethodNotFoundError);
        }
      });
    }
    assertEquals(toolServer().methods.capabilities(), { tools: {}, logging: {} });
  });
});
