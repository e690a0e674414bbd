/**
 * A tenant's hub in the Worker: it knows tools and calls them. The requests of an isolate share a client for each server, and nothing that
 * belongs to one of them.
 *
 * @module
 */
import { argumentsOf } from "../../src/hub/connection/settings.ts";
import { readCatalog } from "../../src/hub/catalog/read.ts";
import { failedResult } from "../../src/hub/failure.ts";
import { createRelay } from "../../src/hub/gateway/mod.ts";
import { HubLayer } from "../../src/hub/layer.ts";
import type { HubCallOptions } from "../../src/hub/options.ts";
import type { CatalogServer, CatalogTool, HubLike, QualifiedName, ServerConfig } from "../../src/hub/seam.ts";
import { RoomHub } from "../../src/entry/runner/room_hub.ts";
import { connect, openHub } from "../../src/entry/workers.ts";
import type { Fetch, Store } from "../../src/ports.ts";
import type { Client } from "../../src/client/client.ts";
import { InvalidParamsError, McpError, UnauthorizedError } from "../../src/protocol/errors.ts";
import type { JsonObject } from "../../src/protocol/json_rpc.ts";
import type { CallToolResult } from "../../src/protocol/types.ts";
import type { TenantHub } from "../../src/runner/mod.ts";
import type { RunnerEnv } from "../env.ts";
import { toServerConfig } from "../operator/servers.ts";
import type { ConfiguredServer } from "../operator/servers.ts";
import { forCallers } from "../tenant/budget.ts";
import { askTenant } from "./loan.ts";
import type { DirectTools } from "./loan.ts";

/** A hub that says which of its tools may be called. */
export interface DirectTenantHub extends TenantHub {
  /** A tool by its name for models. */
  find(name: string): CatalogTool | undefined;
  /** Forgets which servers did not answer. */
  trust(): void;
}

/** Where a hub belongs. */
export interface DirectHubPlace {
  readonly env: RunnerEnv;
  readonly tenant: string;
  /** As the config has them. */
  readonly servers: Readonly<Record<string, ConfiguredServer>>;
}

/** A server, and what is known of it. */
interface DirectServer {
  readonly config: ServerConfig;
  readonly known: CatalogServer;
}

/** A client, and how many calls it has under way. */
interface SharedClient {
  readonly client: Client;
  calls: number;
}

/** Makes a hub of tools that were lent. Nothing is sent before the first call. */
export async function createDirectHub(
  { servers: known, names }: DirectTools,
  { env, tenant, servers }: DirectHubPlace,
): Promise<DirectTenantHub> {
  const catalog = readCatalog({ kind: "causeway.catalog", version: 1, servers: known });
  const reached = new Map<string, DirectServer>();
  for (const known of catalog.servers) {
    const server = servers[known.name];
    if (server) reached.set(known.name, { known, config: toServerConfig(server) });
  }
  const config = Object.fromEntries(Array.from(reached, ([name, { config }]) => [name, config]));
  // It only knows: an isolate must not let go of it either, since what is in it belongs to this request.
  const inside = await openHub(config, { catalog });
  const direct = new DirectHub(inside, reached);
  const hub = new RoomHub(forCallers(direct, storeOf(env, tenant)), inside);
  const tools = new Map(names.map(([name, server, tool]) => [name, { server, name: tool }]));
  return Object.assign(hub, {
    find: (name: string): CatalogTool | undefined => {
      const meant = tools.get(name);
      const found = hub.findTool(name);
      const isMeant = found?.server === meant?.server && found?.name === meant?.name;
      const { failed, beyond } = direct;
      return found && isMeant && !failed.has(found.server) && !beyond.has(found.server) ? found : undefined;
    },
    trust: () => direct.failed.clear(),
  });
}

/** Calls tools; all else is what the hub inside says. */
class DirectHub extends HubLayer {
  /** Servers that did not answer. */
  readonly failed: Set<string> = new Set();
  /** Servers that want what only the object has: a token, or a session. */
  readonly beyond: Set<string> = new Set();
  readonly #servers: ReadonlyMap<string, DirectServer>;
  readonly #relay = createRelay();
  readonly #clients = new Map<string, SharedClient>();

  constructor(hub: HubLike, servers: ReadonlyMap<string, DirectServer>) {
    super(hub);
    this.#servers = servers;
  }

  override async callTool(
    name: QualifiedName,
    args: JsonObject = {},
    options: HubCallOptions = {},
  ): Promise<CallToolResult> {
    const found = this.hub.findTool(name);
    const server = found?.server ?? "";
    let shared: SharedClient | undefined;
    try {
      shared = this.#clients.get(server) ?? await this.#connect(server);
      shared.calls++;
      return await shared.client.callTool(found?.name ?? "", args, options);
    } catch (error) {
      const isOff = options.signal?.aborted === true;
      if (shared) this.#learn(server, error, isOff);
      if (options.throws || isOff && error === options.signal?.reason) throw error;
      return failedResult(error, found?.server);
    } finally {
      if (shared) {
        shared.calls--;
        if (shared.client.era === "legacy") await this.#leave(server, shared);
      }
    }
  }

  /** Remembers a server that cannot be called here, or not now. */
  #learn(server: string, error: unknown, isOff: boolean): void {
    if (error instanceof McpError) error.server = server;
    const isAnswer = error instanceof McpError && error.delivery === "answered";
    if (error instanceof UnauthorizedError) this.beyond.add(server);
    else if (!isAnswer && !isOff) this.failed.add(server);
  }

  /** A server that wants sessions by now: what one keeps of its session belongs to the request that opened it. */
  async #leave(server: string, shared: SharedClient): Promise<void> {
    this.beyond.add(server);
    if (this.#clients.get(server) === shared) this.#clients.delete(server);
    // What was answered stays so.
    if (shared.calls === 0) await shared.client.close().catch(() => {});
  }

  /** A client for all requests: what it knows of a modern server belongs to none of them. */
  async #connect(server: string): Promise<SharedClient> {
    const { config, known } = this.#servers.get(server) ?? {};
    if (!config || !known) throw new InvalidParamsError("There is no such tool");
    const { handlers, features } = this.#relay;
    const [target, settings] = argumentsOf({
      name: server,
      config,
      shared: { handlers, features, stream: false, fetch },
      auth: undefined,
      known,
      verdict: known.snapshot?.verdict,
      log: () => {},
      ended: () => {},
    });
    const shared = { client: await connect(target, settings), calls: 0 };
    this.#clients.set(server, shared);
    return shared;
  }
}

/** With the request that it belongs to, the runtime calls it off by itself: a signal of its own would cost more than all its headers. */
const fetch: Fetch = Object.assign((url: string, init: RequestInit) => globalThis.fetch(url, init), {
  signal: false as const,
});

/** Keeps results where the object keeps them. */
function storeOf(env: RunnerEnv, tenant: string): Store {
  return {
    async get(key) {
      const value = await askTenant(env, tenant, { ask: "get", key });
      return typeof value === "string" ? value : undefined;
    },
    set: async (key, value) => void await askTenant(env, tenant, { ask: "set", key, value }),
    delete: async (key) => void await askTenant(env, tenant, { ask: "delete", key }),
  };
}
