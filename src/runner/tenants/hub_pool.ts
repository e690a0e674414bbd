/**
 * A hub for each tenant: made when it is asked for, shared while it is used, closed when it is idle.
 *
 * @module
 */
import type { GatewayHub } from "../../hub/gateway/options.ts";
import { Hub } from "../../hub/hub.ts";
import type { HubCallOptions } from "../../hub/options.ts";
import type { QualifiedName, ServerConfig } from "../../hub/seam.ts";
import type { Clock, Logger } from "../../ports.ts";
import type { ConstantJson } from "../../protocol/json_rpc.ts";
import type { CallToolResult } from "../../protocol/types.ts";
import { checkAmount } from "../amount.ts";
import { ask, closing, Refusal } from "../rest/problem.ts";

/** What the runner needs of a hub: `openHub` gives it. */
export interface TenantHub extends GatewayHub {
  /** Calls a tool; `throws` rejects with what went wrong. */
  callTool(name: QualifiedName, args?: ConstantJson, options?: HubCallOptions): Promise<CallToolResult>;
  /** Adds a server and tries to connect to it. */
  add(name: string, config: ServerConfig): Promise<void>;
  /** Removes a server. */
  remove(name: string): Promise<boolean>;
  /** Connects to a server again now. */
  retry(server: string): Promise<void>;
  /** Ends everything. */
  close(): Promise<void>;
}

/** Options of a pool. */
export interface HubPoolOptions {
  /** Makes the hub of a tenant. */
  open(tenant: string): Promise<TenantHub>;
  /** Has a hub follow what was changed elsewhere: every few seconds while it is asked for, and nobody waits for it. */
  readonly renew?: ((tenant: string, hub: TenantHub) => Promise<void>) | undefined;
  /** How many hubs there are at most (100): with one more, the one that was idle for longest is closed. */
  readonly most?: number | undefined;
  /** How long a hub may be idle, in milliseconds (600,000). */
  readonly idle?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
}

/** A hub that is held open. */
export interface Lease {
  /** The hub. */
  readonly hub: TenantHub;
  /**
   * What belongs to this hub and ends with it: made once for each key.
   *
   * @throws {Refusal} 503 when the hub has ended meanwhile.
   */
  part<Part extends { close(): void }>(key: string, make: () => Part): Part;
  /** Lets go of it. Idempotent. */
  release(): void;
}

/** How long a hub goes by what it was made of, in milliseconds. */
const renewal = 5_000;

/** How many parts one hub has at most: those that were not asked for the longest time are closed. */
const mostParts = 1_000;

interface Entry {
  readonly hub: Promise<TenantHub>;
  readonly parts: Map<string, { close(): void }>;
  users: number;
  idleSince: number;
  renewedAt: number;
  /** Whether its parts were closed: one more would never be. */
  isOver: boolean;
}

/** Hubs of tenants. */
export class HubPool {
  readonly #options: HubPoolOptions;
  readonly #entries = new Map<string, Entry>();
  #nothing: Hub | undefined;
  #stop: (() => void) | undefined;
  #isClosed = false;

  /** @throws {RangeError} When `most` or `idle` is no number. */
  constructor(options: HubPoolOptions) {
    const { most = 1, idle = 0 } = options;
    checkAmount("pool.most", most);
    checkAmount("pool.idle", idle, 0);
    this.#options = options;
  }

  /** How many hubs there are. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether the runner is closing: no hub is given any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Holds the hub of a tenant open.
   *
   * @throws {Refusal} 503 when it cannot be made, or too many are in use.
   */
  async lease(tenant: string): Promise<Lease> {
    if (this.#isClosed) throw closing();
    const entry = this.#entries.get(tenant) ?? this.#open(tenant);
    this.#entries.set(tenant, entry);
    entry.users++;
    let isHeld = true;
    const release = (): void => {
      if (!isHeld) return;
      isHeld = false;
      if (--entry.users) return;
      entry.idleSince = this.#options.clock.monotonic();
      // What was in use last stands last.
      if (this.#entries.get(tenant) === entry && this.#entries.delete(tenant)) this.#entries.set(tenant, entry);
      this.#watch();
    };
    try {
      const hub = await ask("The servers of this tenant", () => entry.hub, this.#options.logger);
      this.#renew(tenant, entry, hub);
      return { hub, release, part: (key, make) => partOf(entry, key, make) };
    } catch (error) {
      release();
      if (this.#entries.get(tenant) === entry) this.#entries.delete(tenant);
      throw error;
    }
  }

  /** A hub without servers, which is nobody's. */
  nothing(): Lease {
    const hub = this.#nothing ??= new Hub(() => Promise.reject(new TypeError("Nothing is connected here")));
    const never = { users: 1, idleSince: 0, renewedAt: 0, isOver: false };
    const entry: Entry = { hub: Promise.resolve(hub), parts: new Map(), ...never };
    const release = (): void => {
      for (const part of entry.parts.values()) part.close();
    };
    return { hub, release, part: (key, make) => partOf(entry, key, make) };
  }

  /** Closes the hub of a tenant, also when it is in use: the next one who asks gets another. */
  async drop(tenant: string): Promise<void> {
    const entry = this.#entries.get(tenant);
    this.#entries.delete(tenant);
    if (entry) await end(entry);
  }

  /** Closes all of them. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop?.();
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    await Promise.all(entries.map(end));
  }

  #open(tenant: string): Entry {
    const { most = 100, open, clock } = this.#options;
    if (this.#entries.size >= most) {
      const idle = [...this.#entries].find(([, { users }]) => users === 0);
      if (!idle) {
        throw new Refusal(503, "overloaded", "Too many tenants are at work at once", {
          headers: { "retry-after": "5" },
        });
      }
      void this.drop(idle[0]);
    }
    const hub = (async () => await open(tenant))();
    // It is answered where it is waited for.
    hub.catch(() => {});
    const now = clock.monotonic();
    return { hub, parts: new Map(), users: 0, idleSince: now, renewedAt: now, isOver: false };
  }

  #renew(tenant: string, entry: Entry, hub: TenantHub): void {
    const { clock, renew } = this.#options;
    const now = clock.monotonic();
    if (!renew || now - entry.renewedAt < renewal) return;
    entry.renewedAt = now;
    // What fails there is told by who was asked. Next time it may be well.
    renew(tenant, hub).catch(() => {});
  }

  /** Looks for idle hubs as long as there are some: when the first of them was idle for so long. */
  #watch(): void {
    if (this.#stop || this.#isClosed) return;
    const { clock, idle = 600_000 } = this.#options;
    const since = [...this.#entries.values()].filter(({ users }) => users === 0).map(({ idleSince }) => idleSince);
    if (!since.length) return;
    this.#stop = clock.schedule(
      () => {
        this.#stop = undefined;
        const before = clock.monotonic() - idle;
        for (const [tenant, { users, idleSince }] of this.#entries) {
          if (users === 0 && idleSince <= before) void this.drop(tenant);
        }
        this.#watch();
      },
      Math.max(0, Math.min(...since) + idle - clock.monotonic()),
      { background: true },
    );
  }
}

function partOf<Part extends { close(): void }>({ parts, isOver }: Entry, key: string, make: () => Part): Part {
  if (isOver) throw closing("These servers are closing");
  // The key says what it is.
  const part = parts.get(key) as Part | undefined ?? make();
  parts.delete(key);
  parts.set(key, part);
  const [oldest] = parts;
  if (parts.size > mostParts && oldest) {
    parts.delete(oldest[0]);
    oldest[1].close();
  }
  return part;
}

async function end(entry: Entry): Promise<void> {
  entry.isOver = true;
  for (const part of entry.parts.values()) part.close();
  await entry.hub.then((hub) => hub.close()).catch(() => {});
}
