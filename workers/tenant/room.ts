/**
 * What a tenant works with, in its object: its servers, the runner in front of them, and hubs for its agents.
 *
 * @module
 */
import type { OAuth } from "../../src/auth/oauth.ts";
import { createSealedStore } from "../../src/auth/stores/sealed.ts";
import type { RunnableAgent } from "../../src/agent/loop/seam.ts";
import type { Runs } from "../../src/agent/runs/seam.ts";
import { RoomHub } from "../../src/entry/runner/room_hub.ts";
import { openHub, withWebSocket } from "../../src/entry/workers.ts";
import type { WebSocketHandler } from "../../src/entry/workers.ts";
import { withResultBudget } from "../../src/hub/budget/result_budget.ts";
import { createRelay } from "../../src/hub/gateway/mod.ts";
import type { Relay } from "../../src/hub/gateway/mod.ts";
import type { Hub } from "../../src/hub/hub.ts";
import { systemClock } from "../../src/ports.ts";
import type { Store } from "../../src/ports.ts";
import { createHandedOver, createJudge, createRunner, scopeHub } from "../../src/runner/mod.ts";
import type { Principal, Runner } from "../../src/runner/mod.ts";
import { serverDetailRoutes } from "../../src/runner/dashboard/server_routes.ts";
import type { Begun } from "../../src/runner/tenants/agents.ts";
import { PatientHub } from "../../src/runner/tenants/patient_hub.ts";
import { TenantServers } from "../../src/runner/tenants/servers.ts";
import { createObjectStore } from "../../src/runtime/stores/object_store.ts";
import type { ObjectStorage } from "../../src/runtime/stores/object_store.ts";
import { createR2Store } from "../../src/runtime/stores/r2_store.ts";
import type { R2Store } from "../../src/runtime/stores/r2_store.ts";
import { offered } from "../offered.ts";
import { forCallers, notKept } from "./budget.ts";
import { CatalogKeeper } from "./catalog_keeper.ts";
import { callbackOf } from "./door.ts";
import { Lender } from "./lender.ts";
import type { RunnerEnv } from "../env.ts";
import { secretOf } from "../env.ts";
import { audit, logger } from "../operator/log.ts";
import type { Operator } from "../operator/operator.ts";
import type { TenantSettings } from "../operator/config.ts";
import { toServerConfig } from "../operator/servers.ts";
import { tenantRoutes } from "./routes.ts";

/** The part of a Durable Object's storage that a room uses. */
export interface RoomStorage extends ObjectStorage {
  /** Its database: how much is in it. */
  readonly sql: { readonly databaseSize: number };
}

/** What a room is made of. */
export interface RoomParts {
  readonly env: RunnerEnv;
  readonly operator: Operator;
  readonly tenant: string;
  readonly settings: TenantSettings;
  readonly storage: RoomStorage;
  readonly runs: Runs;
  /** Ends the tenant. */
  forget(): Promise<void>;
}

/** A tenant's servers and runner. */
export class TenantRoom {
  readonly #parts: RoomParts;
  readonly #hub: Hub;
  /** The hub for agents. */
  readonly #patient: PatientHub;
  readonly #relay: Relay;
  readonly #results: Store;
  readonly #runner: Runner;
  readonly #lender: Lender;
  readonly #handler: WebSocketHandler;
  readonly #catalogs: CatalogKeeper;
  #users = 0;
  #isRetired = false;

  private constructor(
    parts: RoomParts,
    made: {
      readonly hub: Hub;
      readonly relay: Relay;
      readonly results: Store;
      readonly runner: Runner;
      readonly catalogs: CatalogKeeper;
      readonly lender: Lender;
    },
  ) {
    this.#parts = parts;
    this.#catalogs = made.catalogs;
    this.#hub = made.hub;
    this.#patient = new PatientHub(made.hub);
    this.#relay = made.relay;
    this.#results = made.results;
    this.#runner = made.runner;
    this.#lender = made.lender;
    this.#handler = withWebSocket((request) => made.runner.fetch(request), made.runner.webSocket);
  }

  /** Makes a room. Servers that are known from before are connected with their first call. */
  static async open(parts: RoomParts): Promise<TenantRoom> {
    const { env, operator, tenant, settings, storage, runs } = parts;
    const secret = secretOf(env);
    const sealed = createSealedStore(createObjectStore(storage), { keys: await sealingKey(secret), tenant });
    const oauth = await signIns(parts, sealed);
    const relay = createRelay();
    const { handlers, features, middleware, tasks } = relay;
    const catalogs = new CatalogKeeper(sealed, settings.text, logger);
    const catalog = await catalogs.read();
    const relayed = { handlers, features, middleware, tasks };
    const options = { ...relayed, logger, ...(oauth && { auth: oauth.auth }), ...(catalog && { catalog }) };
    const servers = Object.entries(settings.servers).map(([name, server]) => [name, toServerConfig(server)]);
    const hub = await openHub(Object.fromEntries(servers), options);
    try {
      const added = new TenantServers({ store: sealed, oauth: oauth?.of, clock: systemClock, logger });
      await added.restore(tenant, hub);
    } catch (error) {
      // Who comes next makes another one.
      await hub.close();
      throw error;
    }
    catalogs.follow(hub);
    const results = resultsOf(parts, sealed);
    const runner = createRunner({
      // Host and Origin were looked at by the Worker.
      allowedHosts: "*",
      allowedOrigins: "*",
      access: { handedOver: createHandedOver({ secret, tenant }), keys: operator.keys, policy: operator.policy, audit },
      hub: new RoomHub(forCallers(hub, results), hub),
      relay: () => relay,
      addToHub: true,
      agents: offered,
      runs: () => runs,
      stores: { servers: sealed, records: sealed },
      oauth: oauth?.of,
      quotas: (name) => operator.quotas(name),
      stored: () => storage.sql.databaseSize,
      // The page itself is answered by the Worker.
      routes: [...tenantRoutes(() => parts.forget()), ...serverDetailRoutes],
      secret,
      logger,
    });
    const auth = (server: string): OAuth | undefined => oauth?.auth(server);
    const lender = new Lender({ tenant, settings, hub, runner, results, auth });
    return new TenantRoom(parts, { hub, relay, results, runner, catalogs, lender });
  }

  /** Answers one request, which was handed over. */
  async fetch(request: Request): Promise<Response> {
    // While it is judged, another room may take the place of this one.
    const release = this.#enter();
    try {
      return await this.#handler(request);
    } finally {
      release();
    }
  }

  /** Answers the Worker, which asks for itself. */
  async lend(request: Request): Promise<Response> {
    return await this.#lender.answer(request);
  }

  /**
   * Begins a run of a principal, which goes on with the servers that it began with: its agent, as the policy is now, and what ends its stay.
   * There is no agent when there is none of this name, or they may not run it.
   */
  async begin(name: string, principal: Principal): Promise<Begun> {
    // While the policy is asked, another room may take the place of this one.
    const release = this.#enter();
    try {
      return { agent: await this.#agent(name, principal), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Another one has taken its place: it ends when its calls and runs are over. */
  async retire(): Promise<void> {
    await this.#catalogs.close();
    this.#isRetired = true;
    if (!this.#users) await this.#leave();
  }

  /** Cancels runs, withdraws tokens, forgets records and large results. Nothing is written any more when it resolves. */
  async forget(): Promise<void> {
    await this.#catalogs.close();
    await this.#runner.forget(this.#parts.tenant);
    if ("clear" in this.#results) await (this.#results as R2Store).clear();
  }

  /** Ends it. */
  async close(): Promise<void> {
    await this.#catalogs.close();
    await this.#runner.close();
    await this.#hub.close();
  }

  async #agent(name: string, principal: Principal): Promise<RunnableAgent | undefined> {
    const { env, operator, tenant, settings } = this.#parts;
    const judge = createJudge({ policy: operator.policy, principal, tenant, audit, logger });
    const can = await judge.open();
    if (can("", name, "run") === "deny") return undefined;
    const scoped = await scopeHub(this.#patient, judge, "run");
    const hub = withResultBudget(scoped, { store: this.#results, readTool: true, onError: notKept });
    const { createAgent } = await import("../agents.ts");
    return await createAgent(name, { env, hub, relay: this.#relay, settings: settings.agents });
  }

  #enter(): () => void {
    this.#users++;
    let isHere = true;
    return () => {
      if (isHere) this.#users--;
      isHere = false;
      if (this.#isRetired && !this.#users) void this.#leave();
    };
  }

  /** What was answered by a stream may still be under way. */
  async #leave(): Promise<void> {
    await this.#hub.drain();
    await this.close();
  }
}

/** Where large results are kept: in R2 under the object's own name, or sealed in the object. */
function resultsOf({ env, tenant }: RoomParts, sealed: Store): Store {
  const { RESULTS } = env;
  if (!RESULTS) return sealed;
  let store: Promise<R2Store> | undefined;
  const open = (): Promise<R2Store> =>
    store ??= callbackOf(env, tenant).then(({ name }) => createR2Store(RESULTS, { prefix: `${name}/` }));
  const made: R2Store = {
    get: async (key) => await (await open()).get(key),
    set: async (key, value) => await (await open()).set(key, value),
    delete: async (key) => await (await open()).delete(key),
    clear: async () => await (await open()).clear(),
  };
  return made;
}

/** Signs in to the servers of the config as it says, and to those that were added; undefined where nobody could come back. */
async function signIns(
  { env, tenant, settings }: RoomParts,
  store: Required<Store>,
): Promise<{ auth(server: string): OAuth | undefined; of(tenant: string, server: string): OAuth } | undefined> {
  if (!env.PUBLIC_URL) return undefined;
  const { redirectUri } = await callbackOf(env, tenant);
  const { createOAuth } = await import("../../src/auth/oauth.ts");
  const made = new Map<string, OAuth>();
  const of = (_tenant: string, server: string): OAuth => {
    const { oauth: given } = settings.servers[server] ?? {};
    const { scopes, ...client } = given || { clientId: "" };
    // Servers of the config of which nothing is said share one. Who adds one at the same address is somebody else.
    const subject = given ? `server ${server}` : Object.hasOwn(settings.servers, server) ? "" : `added ${server}`;
    const known = made.get(subject) ?? createOAuth({
      clientMetadata: { client_name: "Causeway runner" },
      ...(given && { client }),
      ...(scopes && { scopes }),
      ...{ redirectUri, store, tenant, subject, logger },
    });
    made.set(subject, known);
    return known;
  };
  const isSigned = (server: string): boolean => {
    const { oauth, headers = {} } = settings.servers[server] ?? {};
    return oauth !== false && !Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  };
  return { auth: (server) => isSigned(server) ? of(tenant, server) : undefined, of };
}

async function sealingKey(secret: string): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(`causeway tenant store:${secret}`);
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}
