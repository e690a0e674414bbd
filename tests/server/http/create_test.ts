import { describe, test } from "node:test";
import { assertEquals } from "@std/assert";
import { connect } from "../../../mod.ts";
import { createHandler } from "../../../src/server/http/mod.ts";
import { McpServer } from "../../../src/server/server.ts";
import { heldRequest } from "../../support/held_request.ts";

describe("our client at our server", () => {
  for (const era of ["modern", "legacy"] as const) {
    test(`calls a tool in the ${era} era`, async () => {
      const server = new McpServer({ name: "test", version: "1.0.0" });
      server.tool("who", {}, (_, context) => context.auth?.principal ?? context.era);
      const handler = createHandler(server, { eras: [era], auth: () => ({ principal: "alice" }) });
      const fetch = (url: string, init: RequestInit) => handler(heldRequest(url, init));
      const client = await connect("http://localhost/mcp", { fetch });
      assertEquals((await client.callTool("who")).content, [{ type: "text", text: "alice" }]);
      assertEquals(client.era, era);
      await client.close();
      handler.close();
    });
  }
});
