/**
 * How a WebSocket for MCP is asked for (RFC 6455, section 4).
 *
 * @module
 */

/** The name of the protocol on a WebSocket, which a client has to offer (RFC 6455, section 1.9). */
export const subprotocol = "mcp";

/** Whether a request wants to become a WebSocket. */
export function wantsSocket({ headers }: Request): boolean {
  return headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** Whether a request offers to speak MCP on a WebSocket. */
export function offersMcp({ headers }: Request): boolean {
  return headers.get("sec-websocket-protocol")?.split(",").some((name) => name.trim() === subprotocol) ?? false;
}
