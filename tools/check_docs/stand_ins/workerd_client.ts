/** A Worker that calls a tool `echo` with the path that it is asked for: twice, in workerd. */
import { McpServer, protectResource } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { startWorker } from "../workerd.ts";
import { expect, serverAt } from "../world.ts";

const workerdClient: StandIn = async (program) => {
  const resource = "https://mcp.example/mcp";
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.tool(
    "echo",
    { input: { type: "object", properties: { text: { type: "string" } } } },
    ({ text }) => String(text),
  );
  const auth = protectResource({
    resource,
    authorizationServers: ["https://auth.example.com"],
    verify: (token) => token === "t0ken" ? { subject: "ada", audience: resource } : undefined,
  });
  await using worker = await startWorker(program, serverAt("mcp.example", server, { auth }));
  for (const path of ["/first", "/second"]) {
    const reply = await worker.ask(new Request(`http://worker.example${path}`));
    const text = await reply.text();
    expect(text.includes(path), `answered with what the tool gave, not ${reply.status} ${text}`);
  }
};
export default workerdClient;
