/** A Worker that serves a tool `echo` at `mcp.example.com`: called, as a client would. */
import { connect } from "../../../src/entry/local.ts";
import type { StandIn } from "../seam.ts";
import { expect, standIn } from "../world.ts";

const echoServer: StandIn = async (program) => {
  const { default: made } = await program.load() as { default: { fetch(request: Request): Promise<Response> } };
  standIn({ "mcp.example.com": (request) => made.fetch(request) });
  await using client = await connect("https://mcp.example.com/mcp");
  const { content } = await client.callTool("echo", { text: "hello" });
  expect(JSON.stringify(content).includes("hello"), "said it again");
};
export default echoServer;
