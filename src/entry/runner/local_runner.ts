/**
 * The runner on this machine, for the person in front of it: on Bun, Deno and Node.
 *
 * @module
 */
import type { LanguageModel } from "../../agent/model/seam.ts";
import type { DurableRuns } from "../../agent/runs/options.ts";
import { configuredGrant, createMemoryStore, createOAuth, knownServers } from "../../auth/mod.ts";
import type { OAuth } from "../../auth/mod.ts";
import { authForConfig } from "../../hub/config/auth.ts";
import type { ReadServer } from "../../hub/config/types.ts";
import { withConfig } from "../../hub/config/with_config.ts";
import { createRelay } from "../../hub/gateway/mod.ts";
import type { Hub } from "../../hub/hub.ts";
import type { OpenHub } from "../../hub/open_hub.ts";
import type { HubConfig, HubLike, ServerConfig } from "../../hub/seam.ts";
import type { SqlDatabase, Store } from "../../ports.ts";
import {
  createApiKey,
  createDashboard,
  createKeyList,
  createPolicy,
  createRunner,
  createSessions,
} from "../../runner/mod.ts";
import type { Principal, Runner, RunnerOptions } from "../../runner/mod.ts";
import { openHub, resolve, serveHttp } from "../local.ts";
import type { HttpHost, WebSocketDoor } from "../serve_http.ts";
import { chooseModel } from "./chosen_model.ts";
import { startLocalAgents } from "./local_agents.ts";
import { RoomHub } from "./room_hub.ts";

/** Options of {@linkcode startLocalRunner}. */
export interface LocalRunnerOptions
  extends Pick<RunnerOptions, "agents" | "models" | "runs" | "limits" | "logger" | "clock" | "random"> {
  /** What is served beside its own (the dashboard). */
  readonly routes?: RunnerOptions["routes"];
  /** The servers by their names (none). */
  readonly servers?: HubConfig | undefined;
  /** What `readHubConfig` found of them: pins, approved and idempotent tools, sign-ins (nothing). */
  readonly notes?: Readonly<Record<string, ReadServer>> | undefined;
  /**
   * Where runs of the agent `helper` are kept, of `openDatabase`: then there are runs. It stays its owner's. `agents` and `runs` are in its
   * place where they are given.
   */
  readonly database?: SqlDatabase | undefined;
  /** What `helper` thinks with (`directiveModel()`). */
  readonly model?: LanguageModel | undefined;
  /** The port (8790). With 0 any free one is taken. */
  readonly port?: number | undefined;
  /** Opens the hub of its servers (`openHub`). */
  readonly openHub?: OpenHub | undefined;
  /** Where sign-ins, added servers and approvals are kept (in memory). */
  readonly store?: Store | undefined;
}

/** A runner at work on this machine. */
export interface LocalRunner extends AsyncDisposable {
  /** Where it is: `http://127.0.0.1:8790`. */
  readonly url: string;
  /** Where the person begins. The token in it is good once, for ten minutes. Secret. */
  readonly signInUrl: string;
  /** An API key of the person's, for programs; it is good until the runner ends. Secret. */
  readonly apiKey: string;
  /** The hub of the servers. */
  readonly hub: Hub;
  readonly runner: Runner;
  /** Ends it. Idempotent. */
  close(): Promise<void>;
}

/** There is one person here, and everything is theirs. */
const owner: Principal = { id: "owner", tenant: "local" };

/**
 * Serves the runner at `127.0.0.1` alone, for whoever has the token or the key that it gives. Servers are connected in the
 * background; `runner.routes` is what is served.
 *
 * @throws {TypeError} When an option makes no sense.
 * @throws {Error} When it cannot listen at the port.
 */
export async function startLocalRunner(options: LocalRunnerOptions = {}): Promise<LocalRunner> {
  let ready: (runner: Runner | Promise<never>) => void = () => {};
  const made = new Promise<Runner>((settle) => ready = settle);
  const host = await serveHttp(
    Object.assign(async (request: Request): Promise<Response> => await (await made).fetch(request), {}),
    { port: options.port ?? 8790, webSocket: doorOf(made) },
  );
  try {
    // Where a person comes back to is known when the port is.
    return await openAt(host, options, ready);
  } catch (error) {
    // Who asks in this very moment is told, too.
    ready(Promise.reject(error));
    await host.close();
    throw error;
  }
}

async function openAt(
  host: HttpHost,
  options: LocalRunnerOptions,
  ready: (runner: Runner) => void,
): Promise<LocalRunner> {
  const { servers = {}, notes = {}, clock, random, logger } = options;
  const { key, hash } = await createApiKey(random);
  const sessions = createSessions({ clock, random });
  const signIns = signInsOf(options, `${host.url}/oauth/callback`);
  const relay = createRelay();
  const { handlers, features, middleware, tasks } = relay;
  const hub = await (options.openHub ?? openHub)({}, {
    auth: signIns.auth,
    ...{ handlers, features, middleware, tasks },
    ...(logger && { logger }),
  });
  const guarded = await followed(hub, notes);
  const own = await localAgents(options, { hub: guarded, relay });
  const access = {
    sessions,
    keys: createKeyList([{ hash, principal: owner.id, tenant: owner.tenant }]),
    policy: createPolicy([{ effect: "allow" }]),
  };
  let runner: Runner;
  try {
    runner = openRunner(options, { own, access, relay, hub: new RoomHub(guarded, hub), signIns });
  } catch (error) {
    await own?.runs.close();
    await hub.close();
    throw error;
  }
  ready(runner);
  void Promise.all(entriesOf(servers).map(([name, config]) => hub.add(name, config)));
  const token = await sessions.invite(owner);
  return {
    ...{ url: host.url, signInUrl: `${host.url}/#token=${token}`, apiKey: key, hub, runner },
    ...closing({ host, runner, hub, runs: own?.runs }),
  };
}

function openRunner(
  options: LocalRunnerOptions,
  { own, access, relay, hub, signIns }: {
    readonly own: Awaited<ReturnType<typeof localAgents>>;
    readonly access: RunnerOptions["access"];
    readonly relay: ReturnType<typeof createRelay>;
    readonly hub: RoomHub;
    readonly signIns: ReturnType<typeof signInsOf>;
  },
): Runner {
  // The link that it gives leads to the page.
  const { agents, models, runs, limits, routes = createDashboard(), store, clock, random, logger } = options;
  const stores = store && { servers: store, records: store };
  return createRunner({
    agents: agents ?? own?.agents,
    runs: runs ?? (own && (() => own.runs)),
    ...{ access, models, routes, limits },
    ...{ hub, relay: () => relay, addToHub: true, clock, random, logger, stores },
    oauth: (_tenant, server) => signIns.of(server),
    egress: { resolve },
  });
}

/** Signs in to each server as its config says; what the config does not know, and what was added, shares one. */
function signInsOf(
  { notes = {}, store, clock, random, logger }: LocalRunnerOptions,
  redirectUri: string,
): { auth(server: string): OAuth | undefined; of(server: string): OAuth } {
  const kept = store ?? createMemoryStore();
  const shared = { store: kept, clock, random, logger, resolve, tenant: owner.tenant };
  const create = (own: object, subject: string): OAuth =>
    createOAuth({ clientMetadata: { client_name: "Causeway runner" }, ...own, ...shared, redirectUri, subject });
  const rest = create({}, "");
  const auth = authForConfig(
    notes,
    (own, server) => Object.keys(own).length ? create(own, `server ${server}`) : rest,
    { grant: configuredGrant, discover: knownServers },
  );
  return { auth, of: (server) => auth(server) ?? rest };
}

/** The hub as the config wants it: its pins are looked at whenever something is listed. */
async function followed(hub: Hub, notes: Readonly<Record<string, ReadServer>>): Promise<HubLike> {
  if (!Object.keys(notes).length) return hub;
  const guarded = await withConfig(hub, notes);
  const follow = async (): Promise<void> => {
    for await (const _ of guarded.events());
  };
  void follow();
  return guarded;
}

async function localAgents(
  { database, model, notes = {}, store, clock, random, logger }: LocalRunnerOptions,
  { hub, relay }: { readonly hub: HubLike; readonly relay: ReturnType<typeof createRelay> },
): Promise<Awaited<ReturnType<typeof startLocalAgents>> | undefined> {
  if (!database) return undefined;
  const parts = { database, hub, relay, notes, clock, random, logger };
  return await startLocalAgents({
    ...parts,
    model: model ?? await chooseModel({}),
    results: store ?? createMemoryStore(),
  });
}

function entriesOf(config: HubConfig): [string, ServerConfig][] {
  return Object.entries("mcpServers" in config ? { ...config.mcpServers } : config) as [string, ServerConfig][];
}

function doorOf(made: Promise<Runner>): WebSocketDoor {
  return {
    admit: async (request) => await (await made).webSocket.admit(request),
    messageBytes: undefined,
    // Without a runner there are no sockets.
    close: () => made.then((runner) => runner.webSocket.close(), () => {}),
  };
}

interface Parts {
  readonly host: HttpHost;
  readonly runner: Runner;
  readonly hub: Hub;
  readonly runs: DurableRuns | undefined;
}

function closing(parts: Parts): Pick<LocalRunner, "close" | typeof Symbol.asyncDispose> {
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => ended ??= end(parts);
  return { close, [Symbol.asyncDispose]: close };
}

async function end({ host, runner, hub, runs }: Parts): Promise<void> {
  await runner.close();
  // What is under way is kept before its servers are gone.
  await runs?.close();
  await host.close();
  await hub.close();
}
