/**
 * The options of a runner.
 *
 * @module
 */
import type { ApiAgentShape } from "../agent/api_agent.ts";
import type { RouteOptions } from "../agent/http/front.ts";
import type { Runs } from "../agent/runs/seam.ts";
import type { OAuth } from "../auth/oauth.ts";
import type { Relay } from "../hub/gateway/calls/relay.ts";
import type { Store } from "../ports.ts";
import type { AccessOptions } from "./access/access.ts";
import type { OfferedAgent } from "./parts.ts";
import type { Route } from "./rest/route.ts";
import type { DirectCall, ForwardCall } from "./tenants/forwarding.ts";
import type { TenantHub } from "./tenants/hub_pool.ts";
import type { QuotaOptions } from "./tenants/quotas.ts";
import type { StrictFetchOptions } from "./tenants/strict_fetch.ts";

/** Options of `createRunner`. */
export interface RunnerOptions extends Omit<RouteOptions, "auth"> {
  /** Who may come in, and what they may do. */
  readonly access: AccessOptions;
  /** One hub for all tenants; it stays its owner's. */
  readonly hub?: TenantHub | undefined;
  /** Lets those who may `manage` add servers to the one `hub`, where they are everybody's (false). With `hubs` each tenant adds its own. */
  readonly addToHub?: boolean | undefined;
  /** Makes the hub of a tenant, of what the operator gives it; the runner keeps and closes it. */
  readonly hubs?: ((tenant: string) => Promise<TenantHub>) | undefined;
  /**
   * Takes what the servers of a tenant ask to the callers of `/mcp`: the one whose `handlers`, `features`, `middleware` and `tasks` its
   * hub was opened with (by the last two, tools that can only run as a task are called). What a server asks on no call of its own goes to
   * the only principal that has calls there by `/mcp` (nobody is asked).
   */
  readonly relay?: ((tenant: string) => Relay | undefined) | undefined;
  /**
   * Answers what is about a tenant, in the place of this runner: sends the call, with `handOver`, to a runner that has the tenant's hub
   * and runs, and takes `handedOver` callers. This one lets callers in, and needs no `hub`, `hubs` or `runs` then.
   */
  readonly forward?: ForwardCall | undefined;
  /**
   * Beside `forward`: gives the hub that a call of a tool is done with here, where that needs nothing of the tenant's place (none). The
   * policy is asked here then, and the row is written here; what wants an approval has to be forwarded.
   */
  readonly direct?: DirectCall | undefined;
  /** `most` hubs of tenants at one time (100), each `idle` for so many milliseconds at most (600,000). */
  readonly pool?: { readonly most?: number | undefined; readonly idle?: number | undefined } | undefined;
  /**
   * Agents that runs can be started of, and that can be asked as models (none). One with `create` is made for each run, of the tenant's
   * hub as its principal may use it, where `agents` of what keeps the runs is the runner's `agentsOf(tenant)`.
   */
  readonly agents?: readonly OfferedAgent[] | undefined;
  /** Further models (none). `context.auth.extra.tenant` is whose caller asks. */
  readonly models?: readonly ApiAgentShape[] | undefined;
  /** Keeps the runs of a tenant (none are kept). */
  readonly runs?: ((tenant: string) => Runs | Promise<Runs>) | undefined;
  /** Where things are kept (in memory). */
  readonly stores?: {
    /** Servers that tenants have added, their headers too: of `createSealedStore` where others can read it. */
    readonly servers?: Store | undefined;
    /** Approvals, keys of starts, sign-ins under way. */
    readonly records?: Store | undefined;
  } | undefined;
  /**
   * Signs in to a server for a tenant: `createOAuth` with its `tenant`, a `subject` of the server's own (two at one address would share
   * their tokens), and `/oauth/callback` here as `redirectUri` (not offered). It has to be what the hub signs in to this server with.
   */
  readonly oauth?: ((tenant: string, server: string) => OAuth) | undefined;
  /** How servers that tenants have added are reached: always public https alone. */
  readonly egress?: StrictFetchOptions | undefined;
  /** What each tenant may use. */
  readonly quotas?: QuotaOptions | undefined;
  /** How many bytes are kept for a tenant elsewhere, for its runs: counts against `quotas.storedBytes` (0). */
  readonly stored?: ((tenant: string) => number | Promise<number>) | undefined;
  /** Seals what travels through callers of `/mcp`: 16 bytes or more, the same in each process (chance). */
  readonly secret?: string | Uint8Array | undefined;
  /** Further routes, with their policies: a dashboard's (none). */
  readonly routes?: readonly Route[] | undefined;
}
