import { assertEquals } from "@std/assert";
import { describe, it } from "node:test";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import type { Fetch } from "../../../src/ports.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import { createWorld, problemOf } from "../support/world.ts";

describe("a server that is added while the runner closes is refused as that", () => {
  for (const when of ["before it is connected to", "while it is connected to"] as const) {
    it(when, async () => {
      const handler = createHandler(new McpServer({ name: "site", version: "1.0.0" }), { allowedHosts: "*" });
      const kept = createMemoryStore();
      let close = async (): Promise<void> => {};
      const fetch: Fetch = async (address, init) => {
        void close();
        return await handler(new Request(address, init));
      };
      const get = async (key: string): Promise<string | undefined> => {
        if (when === "before it is connected to") void close();
        return await kept.get(key);
      };
      await using world = await createWorld({ egress: { fetch }, stores: { servers: { ...kept, get } } });
      await world.ask("/api/servers");
      close = world.runner.close;
      const body = { name: "web", url: "https://tools.example.com/mcp" };
      const refused = await world.ask("/api/servers", { body });
      assertEquals([refused.status, (await problemOf(refused)).code], [503, "closing"]);
    });
  }
});
