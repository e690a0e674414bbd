/** The programs of the serving bench: the same tool behind each server, bundled by one step for all. */
import { join } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { build, forWorkers as usual, gzipped } from "../build.ts";

/** The servers: a route of `Bun.serve` (down a pipe: a loop of lines), one of Hono, ours, and the official SDK's. */
export type ServerName = "bare" | "hono" | "ours" | "sdk";

/**
 * What a Worker holds: nothing, Hono with one route, one tool of ours, that tool in Hono, it with all that a server can offer, or the
 * runner as it is deployed.
 */
export type WorkerName = "empty" | "hono" | "tool" | "toolInHono" | "whole" | "runner";

const host = `import { listen } from "./serving/host.ts";
  const isStdio = process.argv[2] === "stdio";
  const info = { name: "bench", version: "1.0.0" };`;
/** What a modern server answers, made by hand. */
const answer = `{
    jsonrpc: "2.0",
    id: body.id,
    result: {
      content: [{ type: "text", text: "ok" }],
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": info },
    },
  }`;

const programs: Readonly<Record<ServerName, string>> = {
  bare: `${host}
    function pipe() {
      const decoder = new TextDecoder();
      let rest = "";
      process.stdin.on("data", (chunk) => {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split("\\n");
        rest = lines.pop();
        const answers = lines.map((line) => JSON.parse(line)).map((body) => JSON.stringify(${answer}) + "\\n");
        process.stdout.write(answers.join(""));
      });
    }
    if (isStdio) pipe();
    else await listen(async (request) => {
      const body = await request.json();
      return Response.json(${answer});
    });`,
  hono: `${host}
    import { Hono } from "hono";
    const app = new Hono();
    app.post("/mcp", async (context) => {
      const body = await context.req.json();
      return context.json(${answer});
    });
    await listen(app.fetch);`,
  ours: `${host}
    import { createHandler, McpServer } from "../src/server/mod.ts";
    import { serveStdio } from "../src/entry/serve_stdio.ts";
    const server = new McpServer(info);
    server.tool("noop", { description: "Does nothing" }, () => ({ content: [{ type: "text", text: "ok" }] }));
    if (isStdio) await serveStdio(server);
    else await listen(createHandler(server));`,
  sdk: `${host}
    import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
    import { serveStdio } from "@modelcontextprotocol/server/stdio";
    function make() {
      const server = new McpServer(info);
      server.registerTool("noop", { description: "Does nothing" }, () => ({ content: [{ type: "text", text: "ok" }] }));
      return server;
    }
    if (isStdio) serveStdio(make);
    else await listen(createMcpHandler(make).fetch);`,
};

/** One tool with a schema, as most have. */
function withTool(server: string): string {
  return `const server = new ${server}({ name: "bench", version: "1.0.0" });
    const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
    server.tool("echo", { description: "Says it again", input }, ({ text }) => text);`;
}

function serve(handler: string): string {
  return `const handler = ${handler};
    export default { fetch: (request) => request.method === "GET" ? new Response("ok") : handler(request) };`;
}

const workers: Readonly<Record<WorkerName, string>> = {
  empty: `export default { fetch: () => new Response("ok") };`,
  hono: `import { createMcpApp } from "../src/runner/mcp_app.ts";
    ${serve(`createMcpApp(() => new Response("ok")).fetch`)}`,
  tool: `import { createModernHandler, ToolServer } from "../src/server/mod.ts";
    ${withTool("ToolServer")}
    ${serve("createModernHandler(server)")}`,
  toolInHono: `import { createMcpApp } from "../src/runner/mcp_app.ts";
    import { createModernHandler, ToolServer } from "../src/server/mod.ts";
    ${withTool("ToolServer")}
    ${serve("createMcpApp(createModernHandler(server)).fetch")}`,
  whole: `import { createHandler, McpServer } from "../src/server/mod.ts";
    ${withTool("McpServer")}
    ${serve("createHandler(server)")}`,
  // With its first answer: until then it is not set up.
  runner: `import worker, { TenantObject } from "../workers/runner.ts";
    export { TenantObject };
    const env = { RUNNER_SECRET: "of this bench alone, and long enough", CONFIG: { get: () => Promise.resolve(null) } };
    export default {
      async fetch() {
        const { status } = await worker.fetch(new Request("http://localhost/healthz"), env);
        return new Response(status === 200 ? "ok" : "failed");
      },
    };`,
};

/** What is loaded when it is wanted is a module of its own where it is deployed: an isolate that starts does not read it. */
const lazily: Plugin = {
  name: "lazily",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) => kind === "dynamic-import" ? { path, external: true } : undefined);
  },
};

const forWorkers: BuildOptions = { ...usual, target: "es2022", plugins: [lazily] };

/** Builds the program of one server and answers its path. */
export async function buildServing(name: ServerName, folder: string): Promise<string> {
  const outfile = join(folder, `serving_${name}.mjs`);
  await build(programs[name], { outfile, target: "esnext" });
  return outfile;
}

/** Builds a Worker; answers its path and its size in bytes, minified and gzipped. */
export async function buildServingWorker(name: WorkerName, folder: string): Promise<{ path: string; bytes: number }> {
  const path = join(folder, `serving_worker_${name}.mjs`);
  return { path, bytes: gzipped(await build(workers[name], { ...forWorkers, outfile: path })) };
}

/** The size of `./server` as a whole in bytes, minified and gzipped. */
export async function sizeOfServer(folder: string): Promise<number> {
  const outfile = join(folder, "serving_whole.mjs");
  return gzipped(await build(`export * from "../src/server/mod.ts";`, { ...forWorkers, outfile }));
}
