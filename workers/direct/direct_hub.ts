/**
 * A tenant's hub in the Worker: it knows tools, and each call has a client of its own, since an isolate must not share connections among
 * requests.
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
import type { Store } from "../../src/ports.ts";
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
    try {
      return await this.#call(found, args, options);
    } catch (error) {
      if (options.throws || options.signal?.aborted && error === options.signal.reason) throw error;
      return failedResult(error, found?.server);
    }
  }

  async #call(found: CatalogTool | undefined, args: JsonObject, options: HubCallOptions): Promise<CallToolResult> {
    const { server = "", name = "", tool } = found ?? {};
    const { config, known } = this.#servers.get(server) ?? {};
    if (!tool || !config || !known) throw new InvalidParamsError("There is no such tool");
    const { handlers, features } = this.#relay;
    const [target, settings] = argumentsOf({
      name: server,
      config,
      shared: { handlers, features, stream: false },
      auth: undefined,
      // One tool is all that this client is for.
      known: { ...known, tools: [tool] },
      verdict: known.snapshot?.verdict,
      log: () => {},
      ended: () => {},
    });
    const client = await connect(target, settings);
    try {
      const result = await client.callTool(name, args, options);
      // Without a session nothing of it is open when it was answered.
      if (client.era !== "modern") {
        this.beyond.add(server);
        // What was answered stays so.
        await client.close().catch(() => {});
      }
      return result;
    } catch (error) {
      await client.close();
      if (error instanceof McpError) error.server = server;
      const isAnswer = error instanceof McpError && error.delivery === "answered";
      if (error instanceof UnauthorizedError) this.beyond.add(server);
      else if (!isAnswer && !options.signal?.aborted) this.failed.add(server);
      throw error;
    }
  }
}

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
