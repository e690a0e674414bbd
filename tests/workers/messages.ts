/** Messages of a legacy client to a Worker. */
import type { JsonObject } from "../../src/protocol/json_rpc.ts";

/** The handshake's first message. */
export const initialize: JsonObject = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** How one message is posted. */
export function posting(
  message: JsonObject,
  headers: Record<string, string>,
): { method: string; headers: Record<string, string>; body: string } {
  return {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  };
}
