/** A Worker that serves a tool `echo` at `https://mcp.example.com/mcp`: called in workerd. */
import { connect } from "../../../src/entry/local.ts";
import type { StandIn } from "../seam.ts";
import { startWorker } from "../workerd.ts";
import { expect } from "../world.ts";

const workerdServer: StandIn = async (program) => {
  await using worker = await startWorker(program, {});
  const fetch = (url: string, init: RequestInit) => worker.ask(new Request(url, init));
  await using client = await connect("https://mcp.example.com/mcp", { fetch });
  const { content } = await client.callTool("echo", { text: "hello" });
  expect(JSON.stringify(content).includes("hello"), "said it again");
};
export default workerdServer;
