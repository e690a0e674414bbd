/**
 * A Worker that calls remote tools: `GET /add?a=3&b=4` asks an MCP server for the sum. It keeps the server's catalog in KV, so
 * that a cold isolate sends the call and nothing else. It gives up after two seconds, and a call never follows a redirect to
 * somebody else.
 *
 * `bun examples/worker/try.ts` runs it in workerd; `wrangler.toml` says how it is deployed.
 */
import { readCatalog } from "@causeway/mcp/hub";
import { type KvNamespace, openHub } from "@causeway/mcp/workers";

/** What `wrangler.toml` binds. */
export interface Env {
  /** The MCP server. */
  readonly MCP_URL: string;
  readonly CATALOGS: KvNamespace;
  /** How long the server is waited for, in milliseconds. Default: 2,000. */
  readonly PATIENCE?: number;
}

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/add") return new Response("Use GET /add?a=3&b=4", { status: 404 });
    const [a, b] = [Number(searchParams.get("a")), Number(searchParams.get("b"))];
    const timeout = env.PATIENCE ?? 2_000;
    const kept = await env.CATALOGS.get(env.MCP_URL);
    const catalog = kept === null ? undefined : readCatalog(JSON.parse(kept));
    await using hub = await openHub({ sums: { url: env.MCP_URL, timeout } }, { catalog });
    // Whatever goes wrong is a result that says so: no exception, no stack for the caller.
    const { signal } = request;
    const { structuredContent, content, isError } = await hub.callTool("sums__add", { a, b }, { timeout, signal });
    if (isError) return Response.json(content, { status: 502 });
    if (!catalog) await env.CATALOGS.put(env.MCP_URL, JSON.stringify(hub.catalog()));
    return Response.json(structuredContent);
  },
};

export default worker;
