/** Bun's fetch as its entry brings it: it ends nothing by itself. */
import { assertEquals } from "@std/assert";
import { describe, test } from "node:test";
import { connect, openHub } from "../../src/entry/local.ts";
import { memoryFetch } from "../servers/memory_fetch.ts";
import { createLegacyServer } from "../servers/legacy.ts";
import { textOf } from "../support/clients.ts";

const skip = "Bun" in globalThis ? false : "it is Bun's own";

describe("the fetch of ./bun", () => {
  test("a call that is silent for long is the client's to end, and not Bun's (five minutes)", { skip }, async () => {
    const { fetch } = globalThis;
    const server = createLegacyServer();
    const limits: unknown[] = [];
    globalThis.fetch = Object.assign((url: string, init: RequestInit) => {
      limits.push((init as { timeout?: unknown }).timeout);
      return memoryFetch(server)(url, init);
    }, fetch);
    try {
      await using client = await connect("http://localhost/mcp");
      assertEquals(textOf(await client.callTool("echo", { text: "hi" })), "hi");
      await using hub = await openHub({ old: { url: "http://localhost/mcp" } });
      assertEquals((await hub.callTool("old__echo", { text: "hi" })).isError ?? false, false);
    } finally {
      globalThis.fetch = fetch;
    }
    assertEquals([...new Set(limits)], [false]);
  });
});
