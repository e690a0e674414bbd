/** `https://example.com/mcp` and `https://mcp.example.com/mcp`, to which anybody may connect. */
import { McpServer } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { serverAt, standIn } from "../world.ts";

const example: StandIn = async (program) => {
  const hosts = ["example.com", "mcp.example.com"];
  const servers = hosts.map((name) => serverAt(name, new McpServer({ name: "example", version: "1.0.0" })));
  standIn(Object.assign({}, ...servers));
  await program.load();
};
export default example;
