/**
 * Runs the Worker beside it in workerd, as Cloudflare does, before an MCP server on this machine.
 *
 * `bun examples/worker/try.ts`
 */
import { serveHttp } from "@causeway/mcp/local";
import { createHandler, McpServer } from "@causeway/mcp/server";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

const server = new McpServer({ name: "sums", version: "1.0.0" });
const number = { type: "number" };
server.tool("add", {
  description: "Adds two numbers",
  input: { type: "object", properties: { a: number, b: number }, required: ["a", "b"] },
  output: { type: "object", properties: { sum: number }, required: ["sum"] },
}, async ({ a, b }) => {
  if (Number(a) < 0) await new Promise((resolve) => setTimeout(resolve, 3_000));
  return { sum: Number(a) + Number(b) };
});
const answer = createHandler(server);
const sent: string[] = [];
let movedTo: string | undefined;
await using stranger = await serveHttp(() => (sent.push("to the stranger"), new Response()), { port: 0 });
await using host = await serveHttp((request) => {
  sent.push(request.headers.get("mcp-method") ?? request.method);
  return movedTo === undefined ? answer(request) : Response.redirect(movedTo, 307);
}, { port: 0 });

const entryPoints = [fileURLToPath(new URL("worker.ts", import.meta.url))];
const [bundle] = (await build({ entryPoints, bundle: true, minify: true, format: "esm", write: false })).outputFiles;
assert(bundle);
const { text: contents } = bundle;
const worker = (name: string, more?: { readonly PATIENCE: number }) => ({
  name,
  modules: [{ type: "ESModule" as const, path: "worker.js", contents }],
  compatibilityDate: "2026-05-03",
  compatibilityFlags: ["enable_request_signal"],
  bindings: { MCP_URL: `${host.url}/mcp`, ...more },
  kvNamespaces: ["CATALOGS"],
});
// What answers is seen to answer in any case, also on a machine that stands still for a moment.
const workers = [worker("patient", { PATIENCE: 30_000 }), worker("worker")];
const workerd = new Miniflare({ workers, cf: false });
const ask = async (path: string, name = "patient") => {
  sent.length = 0;
  const response = await workerd.dispatchFetch(`http://worker.test${path}`, { headers: { "MF-Route-Override": name } });
  const seen = { status: response.status, body: await response.text(), sent: sent.join(", ") };
  console.log(`${path} → ${seen.status} ${seen.body}\n    sent: ${seen.sent}`);
  return seen;
};
try {
  const first = await ask("/add?a=3&b=4");
  assert.deepEqual([first.status, JSON.parse(first.body)], [200, { sum: 7 }]);
  const second = await ask("/add?a=20&b=22");
  assert.deepEqual([second.body, second.sent], ['{"sum":42}', "tools/call"]);
  const slow = await ask("/add?a=-1&b=1", "worker");
  assert.equal(slow.status, 502);
  movedTo = `${stranger.url}/mcp`;
  const moved = await ask("/add?a=1&b=1");
  assert.deepEqual([moved.status, moved.sent], [502, "tools/call"]);
} finally {
  await workerd.dispose();
}
