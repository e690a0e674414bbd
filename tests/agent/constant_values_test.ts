/** What TypeScript makes constant (`as const`, `readonly`) goes wherever schemas and arguments go: to look at the types is half of it. */
import { test } from "node:test";
import { assertEquals } from "@std/assert";
import { ChannelTransport, connect, createMemoryPair, openHub } from "../../mod.ts";
import { Agent, type LanguageModel, McpAgent, toMcpServer } from "../../src/agent/mod.ts";
import { McpServer, serveChannel } from "../../src/server/mod.ts";
import { textOf } from "../support/clients.ts";

const ids = {
  type: "object",
  properties: { ids: { type: "array", items: { type: "integer" } } },
  required: ["ids"],
} as const;
const icons = [{ src: "https://example.com/a.png", sizes: ["48x48"] }] as const;
const given: { readonly ids: readonly number[] } = { ids: [1, 2] };

class Counter extends McpAgent {
  override getMcpToolDefinitions() {
    return [{ name: "count", inputSchema: ids, outputSchema: ids, icons }] as const;
  }
  override executeMcpTool(_name: string, args: Record<string, unknown>) {
    return args;
  }
}

function transportTo(server: McpServer): ChannelTransport {
  const [near, far] = createMemoryPair();
  serveChannel(server, far);
  return new ChannelTransport(() => near);
}

test("a client's and a hub's calls take lists that nobody changes", async () => {
  const server = new McpServer({ name: "constant", version: "1.0.0", icons });
  server.tool("count", { input: ids, icons }, ({ ids }) => JSON.stringify(ids));
  await using client = await connect(transportTo(server));
  assertEquals(textOf(await client.callTool("count", given)), "[1,2]");
  await using hub = await openHub({ far: { transport: () => transportTo(server) } });
  assertEquals(textOf(await hub.callTool("far.count", given)), "[1,2]");
});

test("an agent's own definitions and tools, and its output, take constant schemas", async () => {
  await using client = await connect(transportTo(toMcpServer(new Counter())));
  assertEquals((await client.callTool("count", given)).structuredContent, { ids: [1, 2] });
  const model: LanguageModel = {
    id: "scripted",
    async *stream({ messages }) {
      if (messages.some(({ role }) => role === "tool")) yield { type: "text", text: `{"ids":[2]}` };
      else yield { type: "tool_call", call: { id: "1", name: "own", arguments: { ids: [1] } } };
      yield { type: "end", reason: "stop" };
    },
  };
  const own = {
    name: "own",
    description: "Its own",
    input: ids,
    output: ids,
    readOnly: true,
    run: () => ({ ids: [3] }),
  };
  const agent = new Agent({ model, tools: [own], output: ids });
  assertEquals((await agent.run("count", { output: ids }).result).output, { ids: [2] });
});
