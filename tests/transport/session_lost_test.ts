import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { connect } from "../../mod.ts";
import { createHandler, McpServer } from "../../src/server/mod.ts";
import { turns } from "../support/clients.ts";
import { heldRequest } from "../support/held_request.ts";

test("a call that hears of a lost session while it is opened anew is made again too", async () => {
  const server = new McpServer({ name: "sample", version: "1" });
  server.tool("hi", {}, () => "hi");
  const handler = createHandler(server, { eras: ["legacy"] });
  let opensAgain = () => {};
  const again = new Promise<void>((resolve) => opensAgain = resolve);
  let lost = 0;
  let handshakes = 0;
  await using client = await connect("http://localhost/mcp", {
    stream: false,
    fetch: async (url, init) => {
      if (String(init?.body ?? "").includes('"initialize"') && ++handshakes === 2) {
        opensAgain();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const response = await handler(heldRequest(url, init));
      // The second reply comes while the new session is being opened.
      if (response.status === 404 && ++lost === 2) await again;
      return response;
    },
  });
  const { sessionId = "" } = client.snapshot();
  await handler(new Request("http://localhost/mcp", { method: "DELETE", headers: { "Mcp-Session-Id": sessionId } }));
  const results = await Promise.all([client.callTool("hi"), client.callTool("hi")]);
  assertEquals(results.map(({ content }) => content[0]?.type), ["text", "text"]);
  assertEquals([lost, handshakes], [2, 2]);
  handler.close();
});

test("so is one that hears of it when the new session is agreed on, while the server is told that", async () => {
  const server = new McpServer({ name: "sample", version: "1" });
  server.tool("hi", {}, () => "hi");
  const handler = createHandler(server, { eras: ["legacy"] });
  let isTold = () => {};
  const telling = new Promise<void>((resolve) => isTold = resolve);
  let lost = 0;
  let notices = 0;
  await using client = await connect("http://localhost/mcp", {
    stream: false,
    fetch: async (url, init) => {
      if (String(init?.body ?? "").includes('"notifications/initialized"') && ++notices === 2) {
        isTold();
        await turns(30);
      }
      const response = await handler(heldRequest(url, init));
      // The second reply comes then.
      if (response.status === 404 && ++lost === 2) await telling;
      return response;
    },
  });
  const { sessionId = "" } = client.snapshot();
  await handler(new Request("http://localhost/mcp", { method: "DELETE", headers: { "Mcp-Session-Id": sessionId } }));
  const results = await Promise.all([client.callTool("hi"), client.callTool("hi")]);
  assertEquals(results.map(({ content }) => content[0]?.type), ["text", "text"]);
  assertEquals([lost, notices], [2, 2]);
  handler.close();
});
