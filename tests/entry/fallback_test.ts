/** The option `fallback` of `connect`: another transport where the first turns out to be the wrong binding. */
import { assertEquals, assertRejects } from "@std/assert";
import { describe, test } from "node:test";
import { ChannelTransport, connect, createMemoryPair, HttpStatusError } from "../../mod.ts";
import { McpServer, serveChannel } from "../../src/server/mod.ts";

const nothing = (url: string, { method }: RequestInit) =>
  Promise.resolve(new Response(`${method} ${url}`, { status: 404 }));

describe("fallback", () => {
  test("the caller's own comes in the place of HTTP+SSE", async () => {
    const server = new McpServer({ name: "sums", version: "1.0.0" });
    server.tool("ping", {}, () => "pong");
    const fallback = () =>
      new ChannelTransport(() => {
        const [near, far] = createMemoryPair();
        void serveChannel(server, far);
        return near;
      });
    await using client = await connect("http://localhost/mcp", { fetch: nothing, fallback });
    assertEquals((await client.callTool("ping")).content, [{ type: "text", text: "pong" }]);
  });

  test("undefined is HTTP+SSE, as without it", async () => {
    const asked: string[] = [];
    const fetch = (url: string, init: RequestInit) => (asked.push(init.method ?? ""), nothing(url, init));
    await assertRejects(() => connect("http://localhost/mcp", { fetch, fallback: undefined }), HttpStatusError);
    assertEquals(asked.at(-1), "GET");
  });
});
