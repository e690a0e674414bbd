/** A served `McpServer` and the means to attack it. */
import { createHandler, McpServer } from "../../../src/server/mod.ts";
import type { HandlerOptions } from "../../../src/server/http/mod.ts";
import type { JsonObject, JsonRpcResponse } from "../../../src/protocol/json_rpc.ts";
import type { LogRecord } from "../../../src/ports.ts";
import type { ToolHandler } from "../../../src/server/definitions.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { EventReader, modernMeta, modernPost, post, rpc } from "../http/support.ts";

/** What a test has. */
export interface Stage {
  readonly server: McpServer;
  readonly handler: ReturnType<typeof createHandler>;
  readonly clock: VirtualClock;
  readonly logs: LogRecord[];
}

/** Serves one server on a clock that stands still; `open` tools take any object. */
export function stage(tools: Record<string, ToolHandler<JsonObject>> = {}, options: HandlerOptions = {}): Stage {
  const clock = new VirtualClock();
  const logs: LogRecord[] = [];
  const server = new McpServer({ name: "target", version: "1.0.0" });
  for (const [name, handler] of Object.entries(tools)) server.tool(name, { input: { type: "object" } }, handler);
  const handler = createHandler(server, { clock, logger: (record) => void logs.push(record), ...options });
  return { server, handler, clock, logs };
}

/** The answer of a reply, be it JSON or a stream. */
export async function answerOf(response: Response): Promise<JsonRpcResponse> {
  if (response.headers.get("content-type") === "application/json") return await response.json() as JsonRpcResponse;
  const reader = new EventReader(response);
  for (;;) {
    const message = await reader.message();
    if (!message) throw new Error("The stream ended without an answer");
    if (!("method" in message)) return message;
  }
}

/** Calls a tool in the modern era. */
export async function call(
  { handler }: Pick<Stage, "handler">,
  name: string,
  args: JsonObject = {},
  meta: JsonObject = {},
): Promise<JsonRpcResponse> {
  const params = { name, arguments: args, _meta: { ...modernMeta(), ...meta } };
  return await answerOf(await handler(modernPost("tools/call", params)));
}

/** A legacy session, and how a tool is called in it. */
export async function openSession({ handler }: Pick<Stage, "handler">): Promise<{
  id: string;
  send(message: unknown): Promise<Response>;
  call(name: string, args?: JsonObject, meta?: JsonObject): Promise<JsonRpcResponse>;
}> {
  const first = rpc("initialize", 0, {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "c", version: "1" },
  });
  const response = await handler(post(first));
  await response.text();
  const id = response.headers.get("mcp-session-id") ?? "none";
  const send = (message: unknown) => handler(post(message, { "mcp-session-id": id }));
  await send({ jsonrpc: "2.0", method: "notifications/initialized" });
  let next = 0;
  return {
    id,
    send,
    call: async (name, args = {}, _meta = {}) =>
      await answerOf(await send(rpc("tools/call", ++next, { name, arguments: args, _meta }))),
  };
}

/** The first text of a tool's result, and whether it failed. */
export function textOf({ result, error }: JsonRpcResponse): [text: string | undefined, failed: boolean] {
  if (error) return [`error ${error.code}`, true];
  const { content, isError } = result as unknown as { content: { text?: string }[]; isError?: boolean };
  return [content[0]?.text, isError === true];
}
