/** `https://shop.example.com/mcp` and `https://example.com/mcp`, which search and sell shoes, and the file server of npm. */
import { McpServer } from "../../../src/server/mod.ts";
import type { StandIn } from "../seam.ts";
import { expect, type Host, serverAt, standIn, standInForNpx } from "../world.ts";

const shop: StandIn = async (program) => {
  standInForNpx();
  standIn({ ...serverAt("shop.example.com", createShop()), ...serverAt("example.com", createShop()), ...models });
  await program.load();
  expect(program.lines.some((line) => /red shoes/i.test(line)), "found red shoes");
};
export default shop;

function createShop(): McpServer {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const input = { type: "object", properties: { text: { type: "string" } } };
  for (const name of ["find", "search"]) {
    server.tool(name, { description: "Finds shoes", input }, () => "red shoes, 17 euros");
  }
  server.tool("order", { description: "Orders shoes", input }, () => "it is ordered");
  return server;
}

/** Asked about the model's tools: finds, then orders where it can, then says what came of it. */
const completions: Host = async (request) => {
  const { messages, tools = [], stream } = await request.json();
  const results = messages.filter(({ role }: { role: string }) => role === "tool").length;
  const names: string[] = tools.map(({ function: { name } }: { function: { name: string } }) => name);
  const wanted = [/find|search/, /order/].map((pattern) => names.find((name) => pattern.test(name)));
  const name = wanted.filter((name) => name !== undefined)[results];
  const call = { id: `call_${results}`, type: "function", function: { name, arguments: '{"text":"red shoes"}' } };
  const message = name
    ? { role: "assistant", content: null, tool_calls: [call] }
    : { role: "assistant", content: "The red shoes" };
  const finish = name ? "tool_calls" : "stop";
  const common = {
    id: "1",
    created: 1,
    model: "stand-in",
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  if (!stream) {
    return Response.json({
      ...common,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: finish }],
    });
  }
  const delta = name ? { ...message, tool_calls: [{ index: 0, ...call }] } : message;
  const chunk = { ...common, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] };
  const body = `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`;
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
};

const models: Readonly<Record<string, Host>> = { "api.openai.com": completions, "models.example.com": completions };
