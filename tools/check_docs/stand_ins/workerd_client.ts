/** A Worker that calls a tool `echo` with the path that it is asked for: twice, in workerd. */
import { createHandler, McpServer, protectResource } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { startWorker } from "../workerd.ts";
import { expect, type Host, serverAt } from "../world.ts";
import { readFileSync } from "node:fs";

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
  const asked: string[] = [];
  const served = createHandler(server, { allowedHosts: ["mcp.example"], auth, eras: ["legacy"] });
  const older: Host = async (request) => {
    asked.push(await request.clone().text());
    return await served(request);
  };
  await using old = await startWorker(program, { "mcp.example": older });
  // What was learned more than a day ago, where the program keeps that.
  await old.keep(resource, JSON.stringify({ era: "legacy", revision: "2025-11-25", expires: 1 }));
  for (const path of ["/old", "/older"]) await old.ask(new Request(`http://worker.example${path}`));
  if (readFileSync(program.path, "utf8").includes("VERDICTS")) {
    const questions = asked.filter((body) => body.includes("server/discover")).length;
    expect(questions === 1, `kept what it learned anew, and not asked ${questions} times`);
  }
  await using worker = await startWorker(program, serverAt("mcp.example", server, { auth }));
  for (const path of ["/first", "/second"]) {
    const reply = await worker.ask(new Request(`http://worker.example${path}`));
    const text = await reply.text();
    expect(text.includes(path), `answered with what the tool gave, not ${reply.status} ${text}`);
  }
};
export default workerdClient;
