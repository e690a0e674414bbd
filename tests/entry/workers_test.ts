/** What `./workers` fills in beside what its caller says. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { connect, openHub } from "../../src/entry/workers.ts";
import { createHandler, McpServer } from "../../src/server/mod.ts";

describe("connect of ./workers", () => {
  const handler = createHandler(new McpServer({ name: "sums", version: "1.0.0" }));
  const fetch = (url: string, init: RequestInit) => handler(new Request(url, init));

  test("keeps its own limits beside those that the caller gives, also where one is undefined", async () => {
    for (const limits of [undefined, {}, { items: 5 }, { items: 5, messageBytes: undefined }]) {
      await using client = await connect("http://localhost/mcp", { fetch, limits: limits as { items: number } });
      const { messageBytes, streamBytes, jsonNodes, items, pages } = client.limits;
      assertEquals(
        [messageBytes, streamBytes, jsonNodes, items, pages],
        [2 ** 23, 2 ** 26, 250_000, limits?.items ?? 10_000, 100],
      );
    }
    await using own = await connect("http://localhost/mcp", { fetch, limits: { messageBytes: 1_000 } });
    assertEquals([own.limits.messageBytes, own.limits.jsonNodes], [1_000, 250_000]);
  });

  test("so does its hub", async () => {
    const servers = { sums: { url: "http://localhost/mcp" } };
    await using hub = await openHub(servers, { fetch, limits: { items: 5 } });
    const { limits } = await hub.client("sums");
    assertEquals([limits.messageBytes, limits.items], [2 ** 23, 5]);
  });
});
