/** `https://example.com/mcp`, which wants a token, and asks in the middle of a call. */
import { McpServer, protectResource } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { expect, serverAt, standIn } from "../world.ts";

const asking: StandIn = async (program) => {
  const resource = "https://example.com/mcp";
  const server = new McpServer({ name: "asking", version: "1.0.0" });
  server.tool("ask", {}, async (_args, { elicit }) => {
    const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
    const { action, content } = await elicit({ message: "What is your name?", requestedSchema });
    return `${action}: ${content?.name}`;
  });
  const auth = protectResource({
    resource,
    authorizationServers: ["https://auth.example.com"],
    verify: () => ({ subject: "ada", audience: resource }),
  });
  standIn(serverAt("example.com", server, { auth }));
  await program.load();
  expect(program.lines.some((line) => line.includes("accept: Ada")), "been asked for a name");
};
export default asking;
