/** The requests of the serving bench, as bytes on the wire: the same for every server. */

/** The eras that are asked for. */
export type ServingEra = "modern" | "legacy";

const client = { name: "bench", version: "1.0.0" };
const legacyRevision = "2025-11-25";
const modernRevision = "2026-07-28";
const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientInfo": client,
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Opens a legacy session. */
export const initialize: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo: client },
});

/** Ends the handshake. */
export const initialized: string = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** Asks for a stream of changes. */
export const listen: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "subscriptions/listen",
  params: { _meta: modernMeta, notifications: { toolsListChanged: true } },
});

/** A call of the tool; ids of eight digits make all calls equally long. */
export function call(era: ServingEra, id: number): string {
  const params = { name: "noop", arguments: {}, ...(era === "modern" && { _meta: modernMeta }) };
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params });
}

/** The head of an HTTP request, up to the empty line. */
export function head(era: ServingEra, body: string, method: string, session?: string): string {
  const lines = [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    `Content-Length: ${body.length}`,
    `MCP-Protocol-Version: ${era === "modern" ? modernRevision : legacyRevision}`,
    ...(era === "modern" ? [`Mcp-Method: ${method}`] : []),
    ...(era === "modern" && method === "tools/call" ? ["Mcp-Name: noop"] : []),
    ...(session === undefined ? [] : [`Mcp-Session-Id: ${session}`]),
  ];
  return lines.join("\r\n") + "\r\n\r\n";
}
