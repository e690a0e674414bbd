/**
 * A page that calls an MCP server by itself, across origins: no backend between them, a bundle of 12 KB (gzip), and a content
 * security policy that lets the page talk to that server alone.
 *
 * `bun examples/browser/serve.ts`, then open the address that it prints.
 */
import { type HttpHost, serveHttp } from "@causeway/mcp/local";
import { createHandler, McpServer } from "@causeway/mcp/server";
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** Serves the page and, on a port of its own, the server that it calls. */
export async function startPage(): Promise<{ page: HttpHost; server: HttpHost; bytes: number }> {
  const number = { type: "number" };
  const sums = new McpServer({ name: "sums", version: "1.0.0" });
  sums.tool("add", {
    description: "Adds two numbers",
    input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
  }, ({ a, b }) => `${a} + ${b} = ${Number(a) + Number(b)}`);
  // Pages of this machine may call it. Elsewhere their origins have to be named: `allowedOrigins: ["https://app.example.com"]`.
  const server = await serveHttp(createHandler(sums), { port: 0 });

  const entryPoints = [fileURLToPath(new URL("page.ts", import.meta.url))];
  const built = await build({ entryPoints, bundle: true, minify: true, format: "esm", target: "es2022", write: false });
  const script = built.outputFiles[0]?.text ?? "";
  const template = await readFile(new URL("index.html", import.meta.url), "utf8");
  const html = template.replace("<html ", `<html data-server="${server.url}/mcp" `);
  const policy = `default-src 'none'; script-src 'self'; img-src data:; connect-src ${server.url}`;
  const page = await serveHttp(({ url }) => {
    const { pathname } = new URL(url);
    if (pathname === "/page.js") return new Response(script, { headers: { "content-type": "text/javascript" } });
    if (pathname !== "/") return new Response("Not found", { status: 404 });
    return new Response(html, { headers: { "content-type": "text/html", "content-security-policy": policy } });
  }, { port: 0 });
  return { page, server, bytes: gzipSync(script).length };
}

if (import.meta.main) {
  const { page, server, bytes } = await startPage();
  console.log(`The page: ${page.url} (${bytes} bytes of script, gzip); it calls ${server.url}/mcp`);
}
