/**
 * A runner with tenants, keys and servers in memory, and a ledger of what reached those.
 *
 * @module
 */
import type { Hub } from "../../../src/hub/hub.ts";
import { createMemoryStore } from "../../../src/auth/stores/memory.ts";
import { systemRandom } from "../../../src/ports.ts";
import type { Clock } from "../../../src/ports.ts";
import type { JsonObject } from "../../../src/protocol/json_rpc.ts";
import { Approvals } from "../../../src/runner/access/approvals.ts";
import { createApiKey, createKeyList, createPolicy, createRunner } from "../../../src/runner/mod.ts";
import type { AccessRule, ApiKeyRecord, AuditRow, Policy, Runner, RunnerOptions } from "../../../src/runner/mod.ts";
import { McpServer } from "../../../src/server/mod.ts";
import { inMemory, openHub } from "../../hub/support.ts";
import { VirtualClock } from "../../support/virtual_clock.ts";
import { MemoryRuns } from "./memory_runs.ts";

/** Something that reached a server. */
export interface Entry {
  readonly tenant: string;
  readonly server: string;
  readonly tool: string;
  readonly given: JsonObject;
}

/** What a world is made of. */
export interface WorldOptions extends Partial<Omit<RunnerOptions, "access" | "hubs" | "runs" | "clock">> {
  /** Servers of each tenant (`alpha`). */
  readonly servers?: readonly string[];
  /** Tools of each server (`echo`, `send`). */
  readonly tools?: readonly string[];
  /** By the names of their keys (`ada`, of the tenant `acme`). */
  readonly principals?: Readonly<Record<string, ApiKeyRecord>>;
  /** All is allowed. */
  readonly policy?: readonly AccessRule[] | Policy;
  readonly clock?: Clock;
  readonly access?: Partial<RunnerOptions["access"]>;
  /** Hears of each call before it is answered. */
  readonly onCall?: (entry: Entry, signal: AbortSignal) => unknown;
}

/** A runner and what is behind it. */
export interface World extends AsyncDisposable {
  readonly runner: Runner;
  readonly ledger: Entry[];
  readonly audit: AuditRow[];
  readonly clock: Clock;
  /** The text of a principal's key. */
  key(name: string): string;
  runs(tenant: string): MemoryRuns;
  /** The tenants whose hubs were opened. */
  opened(): readonly string[];
  /** The hub of a tenant, whole. */
  hub(tenant: string): Promise<Hub>;
  /** Puts a call of Ada's there that waits for an approval; gives its id. */
  propose(tenant: string, tool: { readonly server: string; readonly name: string }): Promise<string>;
  /** Sends a request; `as` is whose key goes along (Ada's), undefined: none. */
  ask(path: string, options?: AskOptions): Promise<Response>;
}

/** What is sent. */
export interface AskOptions {
  readonly as?: string | undefined;
  readonly method?: string;
  /** JSON, unless it is a text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

const ada: ApiKeyRecord = { principal: "ada", tenant: "acme" };

/** Makes a world. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const { servers = ["alpha"], tools = ["echo", "send"], principals = { ada }, access, onCall, ...rest } = options;
  const { policy = [{ effect: "allow" }], clock = new VirtualClock(), ...given } = rest;
  const ledger: Entry[] = [];
  const audit: AuditRow[] = [];
  const runs = new Map<string, MemoryRuns>();
  const hubs = new Map<string, Promise<Hub>>();
  const records = createMemoryStore();
  const approvals = new Approvals({ store: records, clock, random: systemRandom, logger: undefined });
  const keys = new Map<string, { key: string; hash: string; record: ApiKeyRecord }>();
  for (const [name, record] of Object.entries(principals)) keys.set(name, { ...await createApiKey(), record });
  const runsOf = (tenant: string): MemoryRuns => {
    const kept = runs.get(tenant) ?? new MemoryRuns(clock);
    runs.set(tenant, kept);
    return kept;
  };
  const runner = createRunner({
    agents: [{ name: "helper", description: "Says it again" }],
    logger: ({ level, message, fields }) => {
      if (level === "error" && message === "A request could not be answered") console.error(message, fields?.error);
    },
    ...given,
    clock,
    access: {
      keys: createKeyList([...keys.values()].map(({ hash, record }) => ({ hash, ...record }))),
      policy: "open" in policy ? policy : createPolicy(policy),
      audit: { write: (row) => void audit.push(row) },
      ...access,
    },
    stores: { records, ...given.stores },
    hubs: (tenant) => {
      const hub = openTenant(tenant, { servers, tools, ledger, onCall });
      hubs.set(tenant, hub);
      return hub;
    },
    runs: runsOf,
  });
  const key = (name: string): string => keys.get(name)?.key ?? `causeway_${"0".repeat(64)}`;
  return {
    runner,
    ledger,
    audit,
    clock,
    key,
    runs: runsOf,
    opened: () => [...hubs.keys()],
    hub: (tenant) => hubs.get(tenant) ?? openTenant(tenant, { servers, tools, ledger, onCall }),
    async propose(tenant, { server, name }) {
      const found = {
        server,
        name,
        qualifiedName: `${server}__${name}`,
        tool: { name, inputSchema: { type: "object" } },
      };
      const principal = { id: "ada", tenant: "red" };
      const { more } = await approvals.request({ tenant, principal, tool: found, arguments: {} });
      return (more.approval as { id: string }).id;
    },
    ask: (path, { method, body, headers, signal, ...rest } = {}) => {
      const as = "as" in rest ? rest.as : "ada";
      return runner.fetch(
        new Request(`http://localhost${path}`, {
          method: method ?? (body === undefined ? "GET" : "POST"),
          headers: {
            ...(as && { authorization: `Bearer ${key(as)}` }),
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
          ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
          ...(signal && { signal }),
        }),
      );
    },
    [Symbol.asyncDispose]: () => runner.close(),
  };
}

async function openTenant(
  tenant: string,
  { servers, tools, ledger, onCall }: {
    readonly servers: readonly string[];
    readonly tools: readonly string[];
    readonly ledger: Entry[];
    readonly onCall: WorldOptions["onCall"];
  },
): Promise<Hub> {
  const hub = await openHub({});
  for (const name of servers) {
    const server = new McpServer({ name, version: "1.0.0" });
    for (const tool of tools) {
      server.tool(tool, { description: `${tool} at ${name}`, input: { type: "object" } }, async (given, context) => {
        const entry = { tenant, server: name, tool, given };
        ledger.push(entry);
        context.progress({ progress: 1, total: 2, message: "half of it" });
        const said = await onCall?.(entry, context.signal);
        return said ?? `${tenant}/${name}/${tool}: ${JSON.stringify(given)}`;
      });
      server.resource(`note://${name}/${tool}`, { name: tool }, () => {
        ledger.push({ tenant, server: name, tool: `note://${name}/${tool}`, given: {} });
        return `the note ${tool} of ${name} in ${tenant}`;
      });
    }
    server.prompt("greet", { arguments: { who: {} } }, ({ who }) => {
      ledger.push({ tenant, server: name, tool: "greet", given: {} });
      return `hello ${who} from ${name} in ${tenant}`;
    });
    await hub.add(name, inMemory(server).config);
  }
  return hub;
}

/** The body of a problem, after it was looked at as one. */
export async function problemOf(response: Response): Promise<Record<string, unknown>> {
  const type = response.headers.get("content-type");
  const text = await response.text();
  if (type !== "application/problem+json") throw new Error(`${response.status} is no problem: ${type} ${text}`);
  const problem = JSON.parse(text);
  for (const field of ["type", "title", "detail", "code"]) {
    if (typeof problem[field] !== "string") throw new Error(`"${field}" is missing in ${text}`);
  }
  if (problem.status !== response.status) throw new Error(`the status of ${text} is not ${response.status}`);
  return problem;
}
