/** The least that passes the scenario `tools_call` of 2025-11-25, so that the strict runner itself can be tested. */
import process from "node:process";

const url = process.argv.at(-1) ?? "";
let session = "";

async function post(body: object): Promise<void> {
  const headers: Record<string, string> = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-11-25",
  };
  if (session !== "") headers["mcp-session-id"] = session;
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...body }) });
  session = response.headers.get("mcp-session-id") ?? session;
  await response.text();
}

const clientInfo = { name: "minimal", version: "1.0.0" };
await post({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
await post({ method: "notifications/initialized" });
await post({ id: 2, method: "tools/list" });
await post({ id: 3, method: "tools/call", params: { name: "add_numbers", arguments: { a: 5, b: 3 } } });
process.exit(process.argv.includes("--crash") ? 7 : 0);
