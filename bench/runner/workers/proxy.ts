/** The floor: a bare Hono proxy that does the same fetch. It trusts everybody and checks nothing. */
import { Hono } from "hono";

interface Env {
  readonly UPSTREAM: string;
}

const revision = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": revision,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const app: Hono<{ Bindings: Env }> = new Hono();
app.post("/api/tools/:name", async (context) => {
  const name = context.req.param("name").replace(/^.*__/, "");
  const reply = await fetch(context.env.UPSTREAM, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: await context.req.json<unknown>(), _meta: meta },
    }),
  });
  const { result }: { result: Record<string, unknown> } = await reply.json();
  return context.json(result);
});
app.post("/mcp", (context) => fetch(context.env.UPSTREAM, context.req.raw));

export default app;
