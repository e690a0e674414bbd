/** What the bench of the runner asks: the same bytes for all that are compared. */
import { call } from "../serving/messages.ts";
import { type Asked, asked } from "./load.ts";

const ok = `"text":"ok"`;

/** A tool by plain HTTP. */
export const toolCall: Asked = asked("/api/tools/up__noop", {}, ok);

/** The same tool as an MCP client calls it: through the gateway it has the server's name before its own. */
export function mcpCall(name: "noop" | "up__noop"): Asked {
  const body: object = JSON.parse(call("modern", 10_000_000).replace('"noop"', JSON.stringify(name)));
  return asked("/mcp", body, ok, [
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/call",
    `Mcp-Name: ${name}`,
  ]);
}

/** A model without a language model that calls the same tool. */
export const chat: Asked = asked(
  "/v1/chat/completions",
  { model: "plain", messages: [{ role: "user", content: "call up.noop" }] },
  `"content":"ok"`,
);
