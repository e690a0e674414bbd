/**
 * The servers that a tenant has added: URLs alone, public https, kept in a store.
 *
 * @module
 */
import type { RemoteServer } from "../../hub/seam.ts";
import type { Authorizer, Clock, Fetch, Logger, Resolve, Store } from "../../ports.ts";
import { createStrictFetch, judgeTenantUrl } from "./strict_fetch.ts";
import type { TenantHub } from "./hub_pool.ts";
import { TenantList } from "./tenant_list.ts";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";

/** How long the servers of a tenant may hold up its first request, in milliseconds: those that take longer come later. */
const patience = 5_000;

/** How long one may take to be connected, in milliseconds: adding waits for it. */
const connectTime = 15_000;

/** A server that a tenant has added, as it is kept. */
export interface AddedServer {
  readonly name: string;
  readonly url: string;
  /** Headers of its requests. Secret. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Who has added it. */
  readonly addedBy: string;
  /** In milliseconds since 1970. */
  readonly addedAt: number;
}

/** What servers of tenants need. */
export interface TenantServerParts {
  readonly store: Store;
  readonly fetch?: Fetch | undefined;
  readonly resolve?: Resolve | undefined;
  /** Signs in to them, for a tenant. */
  readonly oauth?: ((tenant: string, server: string) => Authorizer) | undefined;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** Servers that tenants have added. */
export class TenantServers {
  readonly list: TenantList<AddedServer>;
  readonly #parts: TenantServerParts;
  readonly #fetch: Fetch;
  /** What hubs were told of from here: by tenant and name, as it was kept. */
  readonly #held = new WeakMap<TenantHub, Map<string, Map<string, string>>>();

  constructor(parts: TenantServerParts) {
    this.#parts = parts;
    this.list = new TenantList({ ...parts, name: "servers", isSound });
    this.#fetch = createStrictFetch(parts);
  }

  /**
   * Judges where a server is said to be.
   *
   * @throws {EgressDeniedError} When a tenant may not name it.
   */
  async judge(url: string): Promise<void> {
    await judgeTenantUrl(url, this.#parts.resolve);
  }

  /** What a hub is told of it. */
  configOf(tenant: string, { name, url, headers }: AddedServer): RemoteServer {
    const auth = this.#parts.oauth?.(tenant, name);
    return {
      url,
      fetch: this.#fetch,
      timeout: connectTime,
      ...(headers && { headers: { ...headers } }),
      ...(auth && { auth }),
    };
  }

  /** Adds what is kept to the hub of a tenant. What a server does wrong is its status, and holds nobody up for long. */
  async restore(tenant: string, hub: TenantHub): Promise<void> {
    const adding = await this.#take(tenant, hub);
    if (!adding.length) return;
    let stop = (): void => {};
    const late = new Promise<void>((resolve) => stop = this.#parts.clock.schedule(resolve, patience));
    try {
      await Promise.race([Promise.all(adding), late]);
    } finally {
      stop();
    }
  }

  /** Has the hub of a tenant follow what another process has added and removed since. */
  async renew(tenant: string, hub: TenantHub): Promise<void> {
    await Promise.all(await this.#take(tenant, hub));
  }

  /** A server that was added to a hub is kept: it goes when it is kept no more. */
  hold(tenant: string, hub: TenantHub, server: AddedServer): void {
    this.#heldBy(tenant, hub).set(server.name, JSON.stringify(server));
  }

  /** Removes a server from a hub: one of its name that comes later is not ours to remove. */
  async remove(tenant: string, hub: TenantHub, name: string): Promise<void> {
    this.#heldBy(tenant, hub).delete(name);
    await hub.remove(name);
  }

  async #take(tenant: string, hub: TenantHub): Promise<readonly Promise<void>[]> {
    const held = this.#heldBy(tenant, hub);
    // What is added while the list is read may not be in it.
    const before = [...held];
    const added = await this.list.read(tenant);
    const kept = new Set(added.map((server) => JSON.stringify(server)));
    const gone = before.filter(([name, text]) => !kept.has(text) && held.get(name) === text && held.delete(name));
    await Promise.all(gone.map(([name]) => hub.remove(name)));
    const taken = new Set(hub.status().map(({ name }) => name));
    // Two processes may have kept one of the same name: the first counts.
    const left = added.filter(({ name }) => !taken.has(name) && taken.add(name));
    return left.map((server) => {
      this.hold(tenant, hub, server);
      return hub.add(server.name, this.configOf(tenant, server));
    });
  }

  /** Several tenants may share a hub. */
  #heldBy(tenant: string, hub: TenantHub): Map<string, string> {
    const tenants = this.#held.get(hub) ?? new Map<string, Map<string, string>>();
    const held = tenants.get(tenant) ?? new Map<string, string>();
    this.#held.set(hub, tenants.set(tenant, held));
    return held;
  }
}

function isSound({ name, url, headers = {} }: Readonly<Record<string, unknown>>): boolean {
  return isTexts([name, url]) && isObject(headers) && isTexts(Object.values(headers));
}
