/**
 * What all routes work with.
 *
 * @module
 */
import type { ApiAgentShape } from "../agent/api_agent.ts";
import type { RouteParts } from "../agent/http/front.ts";
import type { RunnableAgent } from "../agent/loop/seam.ts";
import type { Runs } from "../agent/runs/seam.ts";
import type { OAuth } from "../auth/oauth.ts";
import type { Relay } from "../hub/gateway/calls/relay.ts";
import type { JsonSchema } from "../protocol/types.ts";
import type { Validation } from "../protocol/validation.ts";
import type { HttpOptions } from "../server/http/options.ts";
import type { Access } from "./access/access.ts";
import type { ScopedHub } from "./access/scoped_hub.ts";
import type { Approvals } from "./access/approvals.ts";
import type { Principal } from "./access/types.ts";
import type { HubPool, TenantHub } from "./tenants/hub_pool.ts";
import type { Quotas } from "./tenants/quotas.ts";
import type { TenantServers } from "./tenants/servers.ts";
import type { SignIns } from "./tenants/sign_ins.ts";
import type { Starts } from "./tenants/starts.ts";

/** An agent that runs can be started of. */
export interface OfferedAgent {
  /** What it is started by: letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  /** What it is good for. */
  readonly description?: string | undefined;
  /**
   * Makes it for a run, each time that one begins or goes on (such agents are made elsewhere): for `agentsOf` of the runner. A `Refusal`
   * of 503 lets the run wait.
   */
  readonly create?:
    | ((parts: AgentParts) => RunnableAgent | undefined | Promise<RunnableAgent | undefined>)
    | undefined;
}

/** What an agent of a tenant is made of. */
export interface AgentParts {
  /**
   * The servers of the tenant, as the principal may use them in a run: what the policy denies is not there, and each call is decided on
   * and written down. Calls wait for their turn. It is held open until the run ends or waits for a person.
   */
  readonly hub: ScopedHub;
  /** Whose servers they are. */
  readonly tenant: string;
  /** Who has started the run. It has no scopes: those belong to a proof, which a run outlives. */
  readonly principal: Principal;
  /** The id of the run. */
  readonly run: string;
  /** The tenant's, of the option `relay`: then a person is asked what servers ask in the middle of a call. */
  readonly relay: Relay | undefined;
}

/** What all routes work with. */
export interface RunnerParts extends RouteParts {
  readonly access: Access;
  /** When its models were asked for first, in seconds since 1970: while a Worker is read there is no time. */
  since(): number;
  readonly pool: HubPool;
  readonly quotas: Quotas;
  readonly servers: TenantServers;
  /** The one hub of all tenants, where there is one. */
  readonly sharedHub: TenantHub | undefined;
  /** Whether servers can be added. */
  readonly canAdd: boolean;
  readonly approvals: Approvals;
  readonly starts: Starts;
  readonly signIns: SignIns;
  readonly agents: readonly OfferedAgent[];
  /** Agents as models, by their ids: those that were given, and those that runs are started of. */
  models(tenant: string): readonly ApiAgentShape[];
  /** The runs of a tenant; undefined where none are kept. */
  readonly runs: ((tenant: string) => Runs | Promise<Runs>) | undefined;
  /** Takes what servers ask to callers. */
  readonly relay: ((tenant: string) => Relay | undefined) | undefined;
  /** Signs in to servers for a tenant; undefined where that is not offered. */
  readonly oauth: ((tenant: string, server: string) => OAuth) | undefined;
  /** Bytes that are kept for a tenant elsewhere: of its runs. */
  readonly stored: ((tenant: string) => number | Promise<number>) | undefined;
  /** Host and Origin, as they were given. */
  readonly guards: Pick<HttpOptions, "allowedHosts" | "allowedOrigins">;
  readonly secret: string | Uint8Array | undefined;
  /** Holds a value against a schema. */
  check(schema: JsonSchema, value: unknown): Validation;
}
