/**
 * `causeway serve` and `causeway bridge`: servers behind one, over the standard input and output or over HTTP and WebSocket.
 *
 * @module
 */
import { serveStdio } from "../../entry/local.ts";
import { createGateway, createRelay } from "../../hub/gateway/mod.ts";
import type { Gateway } from "../../hub/gateway/mod.ts";
import type { HubLike } from "../../hub/seam.ts";
import { createTasks } from "../../server/mod.ts";
import type { TaskSupport } from "../../server/mod.ts";
import type { AuthWorld } from "../auth/oauth.ts";
import type { CommandLine } from "../command_line.ts";
import { describeFailure, exitCodes, UsageError } from "../failure.ts";
import type { Failure } from "../failure.ts";
import { readText } from "../read.ts";
import { findConfigs } from "../target/config.ts";
import { writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { guard } from "./guard.ts";
import { serveAt } from "./http.ts";
import type { ServeOptions } from "./options.ts";
import { serverOfTarget, serversOfConfigs } from "./servers.ts";
import type { Served } from "./servers.ts";
import { openHeardHub } from "../wire/heard_hub.ts";
import { requireToken } from "./token.ts";

/** How long servers may hold up the first answer, in milliseconds; those that take longer come later. */
const patience = 5_000;

/** Serves the servers of configs until its client is gone, or it is interrupted. */
export async function serve(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  const options = optionsOf(line);
  await refuseNames(line.words);
  const paths = line.config === undefined ? line.words : [line.config, ...line.words];
  const wanted = { names: options.servers, timeout: line.timeout, world };
  return await run(await serversOfConfigs(paths, wanted), { line, signal, names: "qualified" });
}

/** Serves one server over another binding, with its own names. */
export async function bridge(line: CommandLine, signal: AbortSignal, world: AuthWorld): Promise<number> {
  const [target, ...more] = line.words;
  if (target === undefined || more.length) {
    throw new UsageError(
      'Name one server: causeway bridge https://example.com/mcp, or causeway bridge "bun server.ts"',
    );
  }
  const servers = await serverOfTarget(target, line, { timeout: line.timeout, world });
  return await run(servers, { line, signal, names: "own" });
}

/** Words are config files here; one may have been meant as the name of a server. */
async function refuseNames(words: readonly string[]): Promise<void> {
  if (words.length === 0 || await readText(words[0] ?? "", "the config").catch(() => "") !== undefined) return;
  const names = (await findConfigs(undefined, { until: words[0] ?? "" })).flatMap(({ names }) => names);
  if (!names.includes(words[0] ?? "")) return;
  throw new UsageError(
    `"${words[0]}" is a server, and no config file: write causeway serve --servers ${words.join(",")}`,
  );
}

/** What is served, and how. */
interface Run {
  readonly line: CommandLine;
  readonly signal: AbortSignal;
  readonly names: "qualified" | "own";
}

function optionsOf({ serve }: CommandLine): ServeOptions {
  return serve ?? { servers: undefined };
}

async function run(servers: ReadonlyMap<string, Served>, { line, signal, names }: Run): Promise<number> {
  const { http, takesTurns } = optionsOf(line);
  const auth = http?.tokenFile === undefined ? undefined : await requireToken(http.tokenFile);
  const relay = createRelay();
  const { handlers, features, middleware, tasks: followed } = relay;
  await using hub = await openHeardHub(line, servers, { handlers, features, middleware, tasks: followed });
  // Whom a config approves of is asked by the program at the other end: it has a person, and knows nothing of a config here.
  const guarded = await guard(hub, servers);
  const told = new Map<string, Failure>();
  const reporting = report(guarded, servers, { told, isOne: names === "own" });
  // What was heard of a server is told, also where the other end is gone by then.
  const leave = () => hub.close().then(() => reporting);
  await using _told = { [Symbol.asyncDispose]: leave };
  const connecting = Promise.all(Array.from(servers, ([name, config]) => hub.add(name, config)));
  await until(connecting, patience, signal);
  signal.throwIfAborted();
  if (names === "own" && hub.status().every(({ state }) => state === "failed")) {
    // What it is, is told already. Nobody gets anything of it.
    await leave();
    return [...told.values()][0]?.exitCode ?? exitCodes.unreachable;
  }
  await guarded.check({ signal });
  // There is one client at the other end of a pipe, whatever it says of itself.
  const caller = http ? undefined : () => "the client of this pipe";
  await using gateway = createGateway(guarded, { name: "causeway", relay, names, caller, takesTurns });
  // What runs still is called off at the servers before they are left.
  const tasks = createTasks();
  await using _tasks = { [Symbol.asyncDispose]: () => tasks.close() };
  if (!http) return await overStdio(gateway, tasks, signal);
  await using place = await serveAt(gateway, { ...http, auth, tasks });
  const { length } = guarded.tools();
  await writeError(`causeway: serves ${length} ${length === 1 ? "tool" : "tools"} at ${place.addresses}\n`);
  await ended(signal);
  throw signal.reason;
}

async function overStdio(gateway: Gateway, tasks: TaskSupport, signal: AbortSignal): Promise<number> {
  const served = await serveStdio(gateway, { tasks });
  await Promise.race([served.closed, ended(signal)]);
  if (!signal.aborted) return exitCodes.ok;
  await served.close();
  throw signal.reason;
}

/** Tells what goes wrong with servers: what is tried again, and fails and says the same, is told once. */
async function report(
  hub: HubLike,
  servers: ReadonlyMap<string, Served>,
  { told, isOne }: { readonly told: Map<string, Failure>; readonly isOne: boolean },
): Promise<void> {
  for await (const event of hub.events()) {
    if (event.type === "error") {
      const { server, error } = event;
      const failure = describeFailure(await servers.get(server)?.advise?.(error) ?? error);
      const { line } = failure;
      // A late program that was started anew may give another link: the one before leads nowhere now.
      if (told.get(server)?.line === line) continue;
      told.set(server, failure);
      const about = isOne || line.includes(`"${server}"`) ? "" : `"${oneLine(server)}": `;
      await writeError(`causeway: ${about}${line}\n`);
    } else if (event.type === "state" && event.to === "connected") {
      told.delete(event.server);
      servers.get(event.server)?.onConnected?.();
    }
  }
}

/** Resolves when the signal is aborted. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function until(work: Promise<unknown>, milliseconds: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, milliseconds));
  await Promise.race([work, late, ended(signal)]);
  clearTimeout(timer);
}
