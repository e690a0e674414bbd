import { assert, assertEquals, assertRejects } from "@std/assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { bunPath } from "../../tools/programs.ts";
import { startServer } from "../../tools/conformance/server_process.ts";

const skip = bunPath() === undefined ? "needs bun to run the server" : false;
const prefix = "io.modelcontextprotocol/";
const discover = {
  jsonrpc: "2.0",
  id: 1,
  method: "server/discover",
  params: { _meta: { [`${prefix}protocolVersion`]: "2026-07-28", [`${prefix}clientCapabilities`]: {} } },
};

function post(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const own = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "server/discover",
  };
  return fetch(url, { method: "POST", headers: { ...own, ...headers }, body: JSON.stringify(discover) });
}

describe("the conformance server as a program", () => {
  test("says where it listens, answers there alone, and is gone when it is ended", { skip }, async () => {
    const scratch = mkdtempSync(join(tmpdir(), "causeway-conformance-"));
    const server = await startServer("bun", scratch);
    try {
      const response = await post(server.url);
      assertEquals(response.status, 200);
      const { result } = await response.json();
      assert(result.supportedVersions.includes("2026-07-28"), JSON.stringify(result));
      assertEquals((await post(server.url, { origin: "http://evil.example.com" })).status, 403);
      assertEquals((await post(server.url.replace("/mcp", "/other"))).status, 404);
      assertEquals(server.ended(), false);
    } finally {
      server.stop();
      rmSync(scratch, { recursive: true });
    }
    await assertRejects(async () => {
      // It is told to end, and does so in its own time.
      for (let tries = 0; tries < 1_000; tries++) {
        await (await post(server.url)).body?.cancel();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    });
  });
});
