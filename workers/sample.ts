/**
 * The example that the Worker serves: put your own in its place.
 *
 * @module
 */
import { McpServer } from "../src/server/mod.ts";

/** Makes the server. Each session and each isolate has its own: what is to last belongs into a store. */
export function createSample(): McpServer {
  const server = new McpServer({ name: "causeway-sample", version: "1.0.0" });
  const numbers = {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  };
  server.tool(
    "add",
    { description: "Adds two numbers", input: numbers },
    ({ a, b }) => ({ sum: Number(a) + Number(b) }),
  );
  server.tool("greet", { description: "Asks for a name and greets it" }, async (_args, { elicit }) => {
    const { action, content } = await elicit({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    return action === "accept" ? `Hello, ${content?.name}` : "Hello, whoever you are";
  });
  server.resource("about://sample", { name: "about", mimeType: "text/plain" }, () => "A server on Cloudflare Workers");
  return server;
}
