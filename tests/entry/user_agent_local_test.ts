/** What a program calls itself to a server: many firewalls let nobody in without a name. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, test } from "node:test";
import { connect, serveHttp } from "../../src/entry/local.ts";
import { createHandler, createSocketEndpoint, McpServer } from "../../src/server/mod.ts";

const isNode = !("Bun" in globalThis || "Deno" in globalThis);

describe("the user-agent of requests", () => {
  test("over HTTP and WebSocket, and a name of the program's own in its place", async () => {
    const server = new McpServer({ name: "tools", version: "1.0.0" });
    const names: (string | null)[] = [];
    const hear = ({ headers }: Request): undefined => void names.push(headers.get("user-agent"));
    const handler = createHandler(server, { auth: hear });
    await using host = await serveHttp(handler, { port: 0, webSocket: createSocketEndpoint(server, { auth: hear }) });
    for (const target of [`${host.url}/mcp`, `${host.url.replace("http", "ws")}/mcp`]) {
      await (await connect(target)).close();
      const isOwnName = isNode ? /^node$/ : /^(Bun|Deno)\//;
      if (isNode || target.startsWith("http")) assertMatch(names[0] ?? "", isOwnName, target);
      assertEquals(new Set(names.splice(0)).size, 1);
      await (await connect(target, { headers: { "User-Agent": "mine/1" } })).close();
      // Deno puts that of a WebSocket behind its own.
      for (const name of names.splice(0)) assertMatch(name ?? "", isNode ? /^mine\/1$/ : /\bmine\/1$/, target);
    }
  });
});
