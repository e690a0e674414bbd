/**
 * The runner: servers of tenants, agents as runs and as models, and the gateway, in one Hono application.
 *
 * @module
 */
import { HonoBase } from "hono/hono-base";
import type { Result, Router } from "hono/router";
import { createRouteParts } from "../agent/http/front.ts";
import type { FindAgent } from "../agent/runs/options.ts";
import { createSchemaValidator } from "../protocol/json_schema/mod.ts";
import type { JsonSchema } from "../protocol/types.ts";
import type { ValidateFunction } from "../protocol/validation.ts";
import { createMemoryStore } from "../auth/stores/memory.ts";
import { Access } from "./access/access.ts";
import { Approvals } from "./access/approvals.ts";
import type { RunnerOptions } from "./options.ts";
import type { RunnerParts } from "./parts.ts";
import { Front } from "./rest/front.ts";
import { headOf } from "./rest/head.ts";
import { ask } from "./rest/problem.ts";
import { fits, paramsOf, pathOf } from "./rest/route.ts";
import type { Route } from "./rest/route.ts";
import { aboutRoutes, resourceRoutes } from "./routes/about.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { createSockets, gatewayRoutes } from "./routes/gateway.ts";
import type { RunnerSockets } from "./routes/gateway.ts";
import { modelRoutes } from "./routes/models.ts";
import { readingRoutes } from "./routes/reading.ts";
import { runEventRoutes } from "./routes/run_events.ts";
import { createRunModel } from "./routes/run_model.ts";
import type { ModelRuns } from "./routes/run_model.ts";
import { runRoutes } from "./routes/runs.ts";
import { serverRoutes } from "./routes/servers.ts";
import { sessionRoutes } from "./routes/session.ts";
import { toolRoutes } from "./routes/tools.ts";
import { agentsOf } from "./tenants/agents.ts";
import { forgetTenant } from "./tenants/forget.ts";
import { forwarded, noRuns, signInPath } from "./tenants/forwarding.ts";
import { HubPool } from "./tenants/hub_pool.ts";
import type { TenantHub } from "./tenants/hub_pool.ts";
import { Quotas } from "./tenants/quotas.ts";
import type { Allowance } from "./tenants/quotas.ts";
import { beginRun } from "./tenants/run_starts.ts";
import { TenantServers } from "./tenants/servers.ts";
import { SignIns } from "./tenants/sign_ins.ts";
import { Starts } from "./tenants/starts.ts";

/** The bodies that are taken: an API for people and programs needs no more. */
const messageBytes = 4 * 2 ** 20;
const jsonNodes = 250_000;

/** The part of a Hono application that is used; it is one. */
export interface RunnerApp {
  /** Its routes, in the order in which they are looked for. */
  readonly routes: readonly { readonly method: string; readonly path: string }[];
  /** Answers one request. */
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

/** A runner: what a Worker exports, and what `serveHttp` serves. */
export interface Runner extends AsyncDisposable {
  /** The Hono application: what serves, and the routes that it has. */
  readonly app: RunnerApp;
  /** The table that serves: each route with its policy. */
  readonly routes: readonly Route[];
  /** WebSockets at `/mcp`: the `webSocket` of `serveHttp`, or what `withWebSocket` takes. */
  readonly webSocket: RunnerSockets;
  /** Answers one request. */
  fetch(request: Request, env?: unknown, context?: unknown): Promise<Response>;
  /**
   * Finds the agents of a tenant that have `create`, for what keeps its runs (`agents` of `createRuns`): each run has the tenant's hub as
   * whoever started it may use it, by the policy as it is then. A run of an agent that they may not run any more fails as `forbidden`;
   * while the policy or the hub is down it waits.
   *
   * @throws {TypeError} When this runner hands calls on (`forward`): then agents belong to the one that has the hub.
   */
  agentsOf(tenant: string): FindAgent;
  /**
   * Ends a tenant: its runs are cancelled, tokens of the servers that it added withdrawn, and all that is kept of it here is gone.
   *
   * @throws {Refusal} When a store is down: call it again.
   */
  forget(tenant: string): Promise<void>;
  /**
   * Lets a runner in front use a part of a tenant's quotas by itself, for its `direct` calls: it counts as used from now on.
   *
   * @param wanted So much at most, and never more than half of what is left.
   * @param milliseconds How long its places are held.
   */
  lend(tenant: string, wanted: Allowance, milliseconds: number): Allowance;
  /** Takes back what was lent and not used. */
  takeBack(tenant: string, left: Pick<Allowance, "requests" | "bytes">): void;
  /** Takes no further requests, and closes the hubs. Idempotent. */
  close(): Promise<void>;
}

/**
 * Makes a runner. All that it does is done for a principal that was verified, in a tenant, as the policy says; what keeps
 * policies, keys or records being down means 503 and nothing done.
 *
 * @throws {TypeError} When an option is missing or makes no sense.
 * @throws {RangeError} When a quota or a number of `pool` makes no sense.
 *
 * @example One tool for one key
 * ```ts
 * import { openHub } from "@causeway/mcp";
 * import { createApiKey, createKeyList, createPolicy, createRunner } from "@causeway/mcp/runner";
 *
 * const { key, hash } = await createApiKey();
 * await using runner = createRunner({
 *   hub: await openHub({}),
 *   access: {
 *     keys: createKeyList([{ hash, principal: "ada", tenant: "acme" }]),
 *     policy: createPolicy([{ actions: ["see", "call"], effect: "allow" }]),
 *   },
 * });
 * const headers = { authorization: `Bearer ${key}` };
 * const response = await runner.fetch(new Request("http://localhost/api/tools", { headers }));
 * console.assert((await response.json()).tools.length === 0);
 * ```
 */
export function createRunner(options: RunnerOptions): Runner {
  const parts = createParts(options);
  const { forward, direct, logger } = options;
  const own: readonly Route[] = [
    ...runRoutes,
    ...runEventRoutes,
    ...serverRoutes,
    ...toolRoutes,
    ...readingRoutes,
    ...approvalRoutes,
    ...sessionRoutes,
    ...gatewayRoutes,
    ...modelRoutes,
    ...aboutRoutes(() => routes),
    ...resourceRoutes(parts.access.resource),
    ...options.routes ?? [],
  ];
  const routes = forward ? own.map((route) => forwarded(route, { forward, direct, logger })) : own;
  const front = new Front(parts, routes);
  const app = new HonoBase({ router: new TableRouter(), getPath: (request) => pathOf(request.url) });
  for (const route of routes) {
    app.on(route.method, route.path, ({ req }) => front.answer(req.raw, { route, params: req.param() }));
  }
  app.notFound((context) => front.answer(context.req.raw));
  const heads = new Map(routes.filter(hasHead).map((route) => [route.path, { route, params: {} }]));
  const close = async (): Promise<void> => {
    front.close();
    await parts.pool.close();
  };
  return {
    app,
    routes,
    webSocket: createSockets(front, parts),
    // A HEAD of what is not for anybody would begin streams that nobody reads.
    fetch: (request, env, context) =>
      request.method === "HEAD"
        ? front.answer(request, heads.get(pathOf(request.url))).then((response) => headOf(response, parts.clock))
        : Promise.resolve(app.fetch(request, env as object, context as Parameters<typeof app.fetch>[2])),
    agentsOf: (tenant) => {
      if (!forward) return agentsOf(tenant, parts);
      throw new TypeError("Cannot give agents here: this runner forwards calls, and has no hub of a tenant");
    },
    forget: (tenant) =>
      parts.quotas.inTurn(
        tenant,
        "servers",
        () => parts.quotas.inTurn(tenant, "runs", () => forgetTenant(parts, tenant)),
      ),
    lend: (tenant, wanted, milliseconds) => parts.quotas.lend(tenant, wanted, milliseconds),
    takeBack: (tenant, left) => parts.quotas.takeBack(tenant, left),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether it is for anybody and changes nothing: monitors ask for its head alone. The sign-in is good once. */
function hasHead({ method, path, policy }: Route): boolean {
  return method === "GET" && policy.kind === "public" && path !== signInPath;
}

function createParts(options: RunnerOptions): RunnerParts {
  const { access, stores = {}, agents = [], models = [], oauth, quotas, stored, secret } = options;
  const runs = options.forward ? () => noRuns : options.runs;
  const shared = createRouteParts({ ...options, limits: { messageBytes, jsonNodes, ...options.limits } });
  const { clock, random, logger } = shared;
  const { servers = createMemoryStore(), records = createMemoryStore() } = stores;
  checkFunctions(options);
  checkAgents(agents);
  const { fetch, resolve } = options.egress ?? {};
  const added = new TenantServers({ store: servers, fetch, resolve, oauth, clock, logger });
  const kept = { store: records, clock, random, logger };
  const hub = options.hub && lend(options.hub);
  let since: number | undefined;
  const parts: RunnerParts = {
    ...shared,
    access: new Access(access, { clock, logger }),
    since: () => since ??= Math.floor(clock.now() / 1_000),
    pool: createPool({ ...options, hub }, { added, clock, logger }),
    quotas: new Quotas(quotas, clock),
    servers: added,
    sharedHub: hub,
    canAdd: canAdd(options),
    approvals: new Approvals(kept),
    starts: new Starts(kept),
    signIns: new SignIns(kept),
    agents,
    models: (tenant) => [...models, ...(runs ? agents.map((agent) => createRunModel(agent, runsOf(tenant))) : [])],
    runs,
    relay: options.relay,
    oauth,
    stored,
    guards: options,
    secret,
    check: createCheck(),
  };
  const runsOf = (tenant: string): ModelRuns => ({
    open: async () => await ask("What keeps runs", () => runs!(tenant), logger),
    start: (kept, run) => parts.quotas.inTurn(tenant, "runs", () => beginRun(parts, { tenant, runs: kept }, run)),
  });
  return parts;
}

/** What is made for each tenant is given by a function: what was made already would fail with the first request that wants it. */
function checkFunctions(options: RunnerOptions): void {
  for (const name of ["hubs", "relay", "forward", "direct", "runs", "oauth", "stored"] as const) {
    // Null, too, is none.
    const given: unknown = options[name] ?? undefined;
    if (given === undefined || typeof given === "function") continue;
    throw new TypeError(`Cannot make a runner: "${name}" is no function`);
  }
}

function checkAgents(agents: NonNullable<RunnerOptions["agents"]>): void {
  const names = new Set<string>();
  for (const { name, create } of agents) {
    if (create !== undefined && typeof create !== "function") {
      throw new TypeError(`Cannot offer the agent "${name}": "create" is no function that makes it`);
    }
    if (!/^[\w.-]{1,128}$/.test(name) || names.has(name)) {
      throw new TypeError(
        `Cannot offer the agent "${name}": expected a name of its own of letters, digits, ".", "_", "-"`,
      );
    }
    names.add(name);
  }
}

/** One hub for all, or one for each tenant. */
function createPool(
  options: RunnerOptions,
  { added, clock, logger }: { readonly added: TenantServers } & Pick<RunnerParts, "clock" | "logger">,
): HubPool {
  const { hub, forward, hubs = forward && noHub, pool = {} } = options;
  if (!hub === !hubs) {
    throw new TypeError('Cannot make a runner: expected "hub" or "hubs", and not both');
  }
  const open = async (tenant: string): Promise<TenantHub> => {
    if (hub) {
      if (canAdd(options)) await added.restore(tenant, hub);
      return hub;
    }
    const own = await hubs!(tenant);
    try {
      await added.restore(tenant, own);
    } catch (error) {
      await own.close();
      throw error;
    }
    return own;
  };
  const renew = canAdd(options) ? (tenant: string, hub: TenantHub) => added.renew(tenant, hub) : undefined;
  return new HubPool({ ...pool, open, renew, clock, logger });
}

/** A hub that is its owner's: the runner does not close it. */
function lend(hub: TenantHub): TenantHub {
  return new Proxy(hub, {
    get: (target, name) => name === "close" ? () => Promise.resolve() : bound(target, name),
  });
}

/** Those who would use it are answered elsewhere. */
function noHub(): Promise<TenantHub> {
  return Promise.reject(new TypeError("There are no hubs here"));
}

/** What a tenant adds to a hub that it shares would be there for the others too. */
function canAdd({ hub, addToHub = false }: RunnerOptions): boolean {
  return !hub || addToHub;
}

function bound(target: object, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === "function" ? value.bind(target) : value;
}

/** Checks values against schemas; each schema is made ready once. */
function createCheck(): RunnerParts["check"] {
  const validator = createSchemaValidator();
  const ready = new Map<JsonSchema, ValidateFunction>();
  return (schema, value) => {
    const check = ready.get(schema) ?? validator(schema);
    ready.set(schema, check);
    return check(value);
  };
}

/** Finds routes by the table, without regular expressions: an isolate pays for those when it starts. */
class TableRouter<Served> implements Router<Served> {
  readonly name = "TableRouter";
  /** By the number of their parts. */
  readonly #rows: { readonly method: string; readonly parts: readonly string[]; readonly served: Served }[][] = [];

  add(method: string, path: string, served: Served): void {
    const parts = path.split("/");
    (this.#rows[parts.length] ??= []).push({ method, parts, served });
  }

  match(method: string, path: string): Result<Served> {
    const parts = path.split("/");
    for (const row of this.#rows[parts.length] ?? []) {
      const isIt = (row.method === method || row.method === "ALL") && fits(row.parts, parts);
      if (isIt) return [[[row.served, paramsOf(row.parts, parts)]]];
    }
    return [[]];
  }
}
