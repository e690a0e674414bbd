/** Programs of pages as Workers, in a workerd of this machine. */
import { build } from "esbuild";
import { Miniflare, Response as FlareResponse } from "miniflare";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { KvNamespace } from "../../src/entry/workers.ts";
import { root } from "../programs.ts";
import type { Program } from "./seam.ts";
import type { Host } from "./world.ts";

/** A Worker at work. */
export interface Worker extends AsyncDisposable {
  /** Asks it, as from outside. */
  ask(request: Request): Promise<Response>;
  /** Puts a text into its KV. */
  keep(name: string, text: string): Promise<void>;
}

/** What the operator of every Worker here has set. */
const bindings: Readonly<Record<string, string>> = {
  MCP_URL: "https://mcp.example/mcp",
  MCP_TOKEN: "t0ken",
  RUNS_SECRET: "a secret of the Worker, long enough",
};

/**
 * Starts a program as a Worker. Each class `…Object` that it exports is bound by its name in capitals with an S (`RUNS` for
 * `RunsObject`), KV is `VERDICTS`.
 *
 * @param hosts Who answers what it fetches.
 */
export async function startWorker(program: Program, hosts: Readonly<Record<string, Host>>): Promise<Worker> {
  const source = readFileSync(program.path, "utf8");
  const classes = [...source.matchAll(/export class (\w+)Object\b/g)].map(([, name = ""]) => name);
  const flare = new Miniflare({
    cf: false,
    modules: [{ type: "ESModule", path: "worker.js", contents: await bundle(program.path) }],
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["enable_request_signal", "nodejs_compat"],
    bindings,
    kvNamespaces: ["VERDICTS"],
    durableObjects: Object.fromEntries(classes.map((name) => [
      `${name.replace(/s$/, "").toUpperCase()}S`,
      { className: `${name}Object`, useSQLite: true },
    ])),
    outboundService: async (request: Pick<Request, "method" | "url" | "headers" | "text">) => {
      const { method, url, headers } = request;
      const body = method === "GET" ? null : await request.text();
      const reply = await hosts[new URL(url).hostname]?.(new Request(url, { method, headers: [...headers], body }));
      if (!reply) return new FlareResponse("nobody is there", { status: 404 });
      return new FlareResponse(await reply.text(), { status: reply.status, headers: [...reply.headers] });
    },
  });
  await flare.ready;
  return {
    async ask(request) {
      const { method, url, headers } = request;
      const body = method === "GET" ? null : await request.text();
      const reply = await flare.dispatchFetch(url, { method, headers: [...headers], body });
      return new Response(await reply.text(), { status: reply.status, headers: [...reply.headers] });
    },
    async keep(name, text) {
      const kept = (await flare.getKVNamespace("VERDICTS")) as unknown as KvNamespace;
      await kept.put(name, text);
    },
    [Symbol.asyncDispose]: () => flare.dispose(),
  };
}

async function bundle(path: string): Promise<string> {
  const { exports }: { exports: Record<string, string> } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const built = await build({
    entryPoints: [path],
    absWorkingDir: dirname(path),
    bundle: true,
    format: "esm",
    write: false,
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    plugins: [{
      name: "this repository",
      setup: ({ onResolve }) =>
        onResolve({ filter: /^@causeway\/mcp/ }, ({ path }) => {
          return { path: join(root, exports[`.${path.slice("@causeway/mcp".length)}`] ?? path) };
        }),
    }],
  });
  return built.outputFiles[0]?.text ?? "";
}
