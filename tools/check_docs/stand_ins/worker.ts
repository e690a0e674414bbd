/** A Worker that calls `https://mcp.example/mcp`, asked once. */
import { McpServer } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { expect, serverAt, standIn } from "../world.ts";

const worker: StandIn = async (program) => {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  server.tool("echo", { input }, ({ text }) => String(text));
  standIn(serverAt("mcp.example", server));
  const { default: made } = await program.load() as { default: { fetch(request: Request): Promise<Response> } };
  const reply = await made.fetch(new Request("https://worker.example/hello"));
  expect((await reply.text()).includes("/hello"), "answered with what the tool gave");
};
export default worker;
