/**
 * The runner's Worker in real workerd, with MCP servers in the place of the network, and a ledger of what reached them.
 *
 * @module
 */
import type { Miniflare, MiniflareOptions } from "miniflare";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildRunnerWorker } from "../../../tools/build/runner_worker.ts";
import type { BuiltWorker } from "../../../tools/build/runner_worker.ts";
import { packagesInstalled, root } from "../../../tools/programs.ts";
import { createApiKey } from "../../../src/runner/mod.ts";
import type { Fetch } from "../../../src/ports.ts";
import type { R2Bucket } from "../../../src/runtime/stores/r2_store.ts";
import { createHandler, McpServer } from "../../../src/server/mod.ts";

/** Why these tests cannot run, or false: it is the same workerd from each runtime, so once is enough. */
export const skip: string | false = !packagesInstalled()
  ? "miniflare and esbuild are not installed"
  : "Bun" in globalThis
  ? false
  : "it is the same workerd from each runtime: once is enough, on Bun";

/** The Worker with a way to forget what an object has in memory, and one to look at what is in its storage. */
const program = `
import worker, { TenantObject } from "./workers/runner.ts";
import { objectName } from "./src/runner/mod.ts";
class Evictable extends TenantObject {
  constructor(state, env) {
    super(state, env);
    this.state = state;
    this.seen = [];
  }
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/test/seen") return Response.json(this.seen.splice(0));
    if (!pathname.startsWith("/test/")) this.seen.push(request.method + " " + pathname);
    if (pathname === "/test/evict") this.state.abort("evicted");
    if (pathname === "/test/rows") {
      const tables = this.state.storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
      const keys = [...(await this.state.storage.list()).keys()];
      const text = JSON.stringify([...(await this.state.storage.list()).values()]);
      const alarm = await this.state.storage.getAlarm();
      return Response.json({ tables: tables.map(({ name }) => name), keys, text, alarm });
    }
    return super.fetch(request);
  }
}
export { Evictable as TenantObject };
export default {
  ...worker,
  async queue(batch, env) {
    if (batch.queue !== "dead") return await worker.queue(batch, env);
    for (const { body } of batch.messages) await env.CONFIG.put("dead", JSON.stringify(body));
  },
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith("/test/")) return worker.fetch(request, env);
    const name = await objectName(env.RUNNER_SECRET, searchParams.get("tenant"), "tenant");
    return env.TENANTS.get(env.TENANTS.idFromName(name)).fetch(request);
  },
};`;

let built: Promise<BuiltWorker> | undefined;

/** The options of Miniflare for the Worker: each module as it is deployed. */
export async function workerOptions(): Promise<Pick<MiniflareOptions, "modules"> & { readonly modulesRoot: string }> {
  const { modules } = await (built ??= buildRunnerWorker(program));
  return {
    modulesRoot: "/",
    modules: modules.map(({ name, text }) => ({ type: "ESModule", path: `/${name}`, contents: text })),
  };
}

/** The flags that it is deployed with. */
export function deployedFlags(): readonly string[] {
  const [, list = ""] =
    /^compatibility_flags = \[([^\]]*)\]/m.exec(readFileSync(join(root, "wrangler.toml"), "utf8")) ?? [];
  return [...list.matchAll(/"(\w+)"/g)].map(([, flag = ""]) => flag);
}

/** Something that reached a server. */
export interface Entry {
  readonly server: string;
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
}

/** What a world is made of. */
export interface WorldOptions {
  /** The operator's config, without keys: two tenants with a server `data` each, and everything allowed. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** By the names of their keys (`ada` of `acme`, `eve` of `other`). */
  readonly principals?: Readonly<Record<string, { readonly principal: string; readonly tenant: string }>>;
  /** Further bindings and variables. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Answers what goes to these hosts. */
  readonly web?: { readonly hosts: readonly string[]; readonly fetch: Fetch } | undefined;
  /** Further options of Miniflare. */
  readonly more?: Partial<MiniflareOptions>;
}

/** What is sent. */
export interface AskOptions {
  /** Whose key goes along (Ada's). */
  readonly as?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an object keeps. */
export interface Rows {
  readonly tables: readonly string[];
  readonly keys: readonly string[];
  /** The values under the keys. */
  readonly text: string;
  readonly alarm: number | null;
}

/** A Worker at work. */
export interface WorkerWorld extends AsyncDisposable {
  readonly flare: Miniflare;
  readonly url: string;
  readonly ledger: Entry[];
  key(name: string): string;
  /** Writes the operator's config, with the keys. */
  configure(config: Readonly<Record<string, unknown>>): Promise<void>;
  /** Writes any text in its place. */
  spoil(text: string): Promise<void>;
  ask(path: string, options?: AskOptions): Promise<Response>;
  /** Asks, and reads the JSON of an answer that has to have this status. */
  json<Value>(path: string, options?: AskOptions, status?: number): Promise<Value>;
  /** Forgets what the object of a tenant has in memory. */
  evict(tenant: string): Promise<void>;
  /** What is in the storage of a tenant's object. */
  rows(tenant: string): Promise<Rows>;
  /** Methods and paths that the object of a tenant was asked since this was called last. */
  seen(tenant: string): Promise<string[]>;
}

/** A secret of the tests alone. */
export const secret = "a secret of the tests, of 32 characters or more";

/** Servers of tenants as the config names them: `data` at a host of the tenant's own. */
export function serversOf(tenant: string): object {
  return { data: { url: `https://${tenant}.example/mcp` } };
}

/** Two tenants, all of it allowed, reading without a question. */
export const usualConfig: Readonly<Record<string, unknown>> = {
  rules: [{ effect: "allow" }],
  agents: { readOnly: ["data.fetch_*", "data.big", "data.greet"] },
  tenants: { acme: { servers: serversOf("acme") }, other: { servers: serversOf("other") } },
};

/** Starts the Worker. */
export async function startWorld(options: WorldOptions = {}): Promise<WorkerWorld> {
  const { principals = { ada: { principal: "ada", tenant: "acme" }, eve: { principal: "eve", tenant: "other" } } } =
    options;
  const { config = usualConfig, bindings = {}, more = {} } = options;
  const keys = new Map<string, { readonly key: string; readonly row: object }>();
  for (const [name, record] of Object.entries(principals)) {
    const { key, hash } = await createApiKey();
    keys.set(name, { key, row: { hash, ...record } });
  }
  const ledger: Entry[] = [];
  const { Miniflare, Response: FlareResponse } = await import("miniflare");
  const handlers = new Map<string, ReturnType<typeof createHandler>>();
  // A connection that is kept is ended by its server after some seconds. On a busy machine it is used just then, and what was
  // sent may have run or not: no test can rely on it.
  const replyOf = ({ body, status, headers }: Response) =>
    new FlareResponse(body as never, { status, headers: [...headers, ["connection", "close"]] });
  const flare = new Miniflare({
    ...await workerOptions(),
    compatibilityDate: "2026-05-03",
    compatibilityFlags: [...deployedFlags()],
    durableObjects: { TENANTS: { className: "TenantObject", useSQLite: true } },
    kvNamespaces: ["CONFIG"],
    r2Buckets: ["RESULTS"],
    bindings: { RUNNER_SECRET: secret, ALLOWED_HOSTS: "", WATCHDOG: "1000", ...bindings },
    outboundService: async (request: Request) => {
      const { hostname } = new URL(request.url);
      const body = request.method === "GET" || request.method === "HEAD" ? null : await request.arrayBuffer();
      const sent = { method: request.method, headers: new Headers([...request.headers]), body };
      const { web } = options;
      if (web?.hosts.includes(hostname)) {
        return replyOf(await web.fetch(request.url, sent));
      }
      const handler = handlers.get(hostname) ?? createHandler(createTools(hostname, ledger), { allowedHosts: "*" });
      handlers.set(hostname, handler);
      return replyOf(await handler(new Request(request.url, sent)));
    },
    ...more,
  } as MiniflareOptions);
  const url = (await flare.ready).href.replace(/\/$/, "");
  const kv = await flare.getKVNamespace("CONFIG") as unknown as { put(key: string, value: string): Promise<void> };
  const world: WorkerWorld = {
    ...{ flare, url, ledger },
    key: (name) => keys.get(name)?.key ?? `causeway_${"0".repeat(64)}`,
    configure: (next) => world.spoil(JSON.stringify({ keys: [...keys.values()].map(({ row }) => row), ...next })),
    spoil: (text) => kv.put("config", text),
    ask: (path, { as = "ada", method, body, headers } = {}) =>
      fetch(`${url}${path}`, {
        keepalive: false,
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          authorization: `Bearer ${world.key(as)}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    async json(path, asked, status = 200) {
      const response = await world.ask(path, asked);
      const text = await response.text();
      if (response.status !== status) throw new Error(`${path} gave ${response.status}: ${text}`);
      return JSON.parse(text);
    },
    async evict(tenant) {
      const response = await fetch(`${url}/test/evict?tenant=${tenant}`, { keepalive: false });
      await response.body?.cancel();
    },
    seen: async (tenant) => await (await fetch(`${url}/test/seen?tenant=${tenant}`, { keepalive: false })).json(),
    rows: async (tenant) => await (await fetch(`${url}/test/rows?tenant=${tenant}`, { keepalive: false })).json(),
    [Symbol.asyncDispose]: () => flare.dispose(),
  };
  await world.configure(config);
  return world;
}

/** The bucket of large results. */
export async function resultsOf({ flare }: WorkerWorld): Promise<R2Bucket> {
  return await flare.getR2Bucket("RESULTS") as unknown as R2Bucket;
}

/** The tools at one host: each says whose they are. */
function createTools(hostname: string, ledger: Entry[]): McpServer {
  const server = new McpServer({ name: hostname, version: "1.0.0" });
  const note = (tool: string, given: Entry["given"]): void => void ledger.push({ server: hostname, tool, given });
  const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const degrees = { type: "object", properties: { degrees: { type: "number" }, city: { type: "string" } } };
  server.tool("fetch_data", { description: "The weather of a city", input: city, output: degrees }, (given) => {
    note("fetch_data", given);
    return { degrees: 21, city: `${given.city} as ${hostname} knows it` };
  });
  server.tool("send", { description: "Sends a text", input: { type: "object" } }, (given) => {
    note("send", given);
    return `${hostname} has sent it`;
  });
  server.tool("big", { description: "Gives much" }, () => {
    note("big", {});
    return "0123456789".repeat(60_000);
  });
  server.tool("greet", { description: "Asks for a name and greets it" }, async (given, { elicit }) => {
    const { action, content } = await elicit({
      message: "What is your name?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    });
    note("greet", given);
    return action === "accept" ? `Hello, ${content?.name}` : "Hello, whoever you are";
  });
  server.resource("note://one", { name: "one" }, () => `the note of ${hostname}`);
  return server;
}

/** An event of a run, as it came. */
export interface SeenEvent {
  readonly id: number;
  readonly event: string;
  readonly data: { readonly sequence: number; readonly event: Readonly<Record<string, unknown>> };
}

/** The events in the text of a stream. */
export function eventsIn(text: string): SeenEvent[] {
  return [...text.matchAll(/id: (\d+)\nevent: (\w+)\ndata: (.*)\n/g)].map(([, id, event = "", data = ""]) => ({
    id: Number(id),
    event,
    data: JSON.parse(data),
  }));
}

/** A run, as far as tests look at it. */
export interface SeenRun {
  readonly id: string;
  readonly state: string;
  readonly questions: readonly { readonly id: string; readonly kind: string }[];
  readonly unknown: readonly string[];
  readonly end?: { readonly type: string; readonly text?: string; readonly error?: { readonly code: string } };
}

/** Starts a run. */
export async function startRun(world: WorkerWorld, input: string, asked: AskOptions = {}): Promise<SeenRun> {
  return await world.json<SeenRun>("/api/runs", { body: { agent: "helper", input }, ...asked }, 202);
}

/** Waits until a run is in one of these states. */
export async function runUntil(
  world: WorkerWorld,
  id: string,
  states: readonly string[],
  as = "ada",
): Promise<SeenRun> {
  for (let turns = 0; turns < 800; turns++) {
    const run = await world.json<SeenRun>(`/api/runs/${id}`, { as });
    if (states.includes(run.state)) return run;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`The run ${id} came to none of ${states.join(", ")}`);
}
