/**
 * The runner on this machine, for the person in front of it: on Bun, Deno and Node.
 *
 * @module
 */
import { createOAuth } from "../../auth/mod.ts";
import type { Hub } from "../../hub/hub.ts";
import type { HubConfig, ServerConfig } from "../../hub/seam.ts";
import type { Store } from "../../ports.ts";
import { createApiKey, createKeyList, createPolicy, createRunner, createSessions } from "../../runner/mod.ts";
import type { Principal, Runner, RunnerOptions } from "../../runner/mod.ts";
import { openHub, resolve, serveHttp } from "../local.ts";
import type { HttpHost, WebSocketDoor } from "../serve_http.ts";

/** Options of {@linkcode startLocalRunner}. */
export interface LocalRunnerOptions
  extends Pick<RunnerOptions, "agents" | "models" | "runs" | "routes" | "limits" | "logger" | "clock" | "random"> {
  /** The servers by their names (none). */
  readonly servers?: HubConfig | undefined;
  /** The port (8790). With 0 any free one is taken. */
  readonly port?: number | undefined;
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
  const { servers = {}, port = 8790, store, clock, random, logger, ...rest } = options;
  const { key, hash } = await createApiKey(random);
  const sessions = createSessions({ clock, random });
  let ready: (runner: Runner) => void = () => {};
  const made = new Promise<Runner>((settle) => ready = settle);
  const host = await serveHttp(
    Object.assign(async (request: Request): Promise<Response> => await (await made).fetch(request), {}),
    { port, webSocket: doorOf(made) },
  );
  // Where a person comes back to is known when the port is.
  const oauth = createOAuth({
    redirectUri: `${host.url}/oauth/callback`,
    clientMetadata: { client_name: "Causeway runner" },
    ...{ store, clock, random, logger, resolve, tenant: owner.tenant },
  });
  const hub = await openHub({}, { auth: oauth, ...(logger && { logger }) });
  const stores = store && { servers: store, records: store };
  const runner = createRunner({
    ...rest,
    ...{ hub, addToHub: true, clock, random, logger, stores },
    access: {
      sessions,
      keys: createKeyList([{ hash, principal: owner.id, tenant: owner.tenant }]),
      policy: createPolicy([{ effect: "allow" }]),
    },
    oauth: () => oauth,
    egress: { resolve },
  });
  ready(runner);
  void Promise.all(entriesOf(servers).map(([name, config]) => hub.add(name, config)));
  const token = await sessions.invite(owner);
  return {
    ...{ url: host.url, signInUrl: `${host.url}/#token=${token}`, apiKey: key, hub, runner },
    ...closing(host, runner, hub),
  };
}

function entriesOf(config: HubConfig): [string, ServerConfig][] {
  return Object.entries("mcpServers" in config ? { ...config.mcpServers } : config) as [string, ServerConfig][];
}

function doorOf(made: Promise<Runner>): WebSocketDoor {
  return {
    admit: async (request) => await (await made).webSocket.admit(request),
    messageBytes: undefined,
    close: async () => await (await made).webSocket.close(),
  };
}

function closing(host: HttpHost, runner: Runner, hub: Hub): Pick<LocalRunner, "close" | typeof Symbol.asyncDispose> {
  let ended: Promise<void> | undefined;
  const close = (): Promise<void> => ended ??= end(host, runner, hub);
  return { close, [Symbol.asyncDispose]: close };
}

async function end(host: HttpHost, runner: Runner, hub: Hub): Promise<void> {
  await runner.close();
  await host.close();
  await hub.close();
}
