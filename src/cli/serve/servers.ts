/**
 * Which servers are served, and how each is reached.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";
import { Redactor } from "../../egress/redact.ts";
import type { ServerNotes } from "../../hub/config/mod.ts";
import { isBroken, origin } from "../../hub/failure.ts";
import type { Hub } from "../../hub/hub.ts";
import type { ServerConfig, ServerSettings } from "../../hub/seam.ts";
import type { Logger } from "../../ports.ts";
import { McpError } from "../../protocol/errors.ts";
import { findSignIn, withAdvice } from "../auth/use.ts";
import type { AuthWorld } from "../auth/oauth.ts";
import { DeadlineError, UsageError } from "../failure.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { findConfigs, noConfig } from "../target/config.ts";
import type { Config } from "../target/place.ts";
import { lateError, strayError } from "../session/late.ts";
import { warnOfPlainHttp } from "../target/plain_http.ts";
import { readServer, serverReader } from "../target/server_entry.ts";
import { resolveTarget } from "../target/target.ts";
import type { Destination } from "../target/target.ts";
import { createSpinner, writeError, writeWarning } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { readUrl } from "../../egress/url.ts";

/** How long a child may take to end by itself, and again after SIGTERM, in milliseconds. */
const closeTime = 1_000;
/** How much of what a program writes to its standard error is kept, in characters. */
const keptWords = 4_096;

/** A server as a hub takes it, with what its config says of its tools. */
export type Served = ServerConfig & Pick<ServerNotes, "approved" | "idempotent" | "pins"> & {
  /** Gives an error of it as the command tells it: with where to sign in, and what a late program has said. Never rejects. */
  readonly advise?: (error: unknown) => Promise<unknown>;
  /** Says that it is connected: it is a server, whatever else is in its output. */
  readonly onConnected?: () => void;
};

/** What is wanted of the servers. */
export interface Wanted {
  /** The names that are wanted; undefined: all. */
  readonly names: readonly string[] | undefined;
  /** Milliseconds that a server may take until it is connected. */
  readonly timeout: number | undefined;
  readonly world: AuthWorld;
  /** Whether it will do where configs have no server, or all of them are disabled (false). */
  readonly mayBeNone?: boolean;
}

/**
 * The servers of configs. One that cannot be used is told and left out; of several with one name the first counts.
 *
 * @param paths The files; none: those where names are looked up.
 * @throws {UsageError} When a file cannot be read, a wanted server is in none, or nothing is left.
 */
export async function serversOfConfigs(
  paths: readonly string[],
  { names, mayBeNone = false, ...wanted }: Wanted,
): Promise<Map<string, Served>> {
  const servers = new Map<string, Served>();
  let noneWillDo = mayBeNone && !names;
  const known = new Map<string, string>();
  const files: string[] = [];
  for (const config of await configsOf(paths, noneWillDo)) {
    files.push(config.path);
    // A few are read alone: what the others need does not matter.
    const read = names ? (name: string) => readServer(config, name) : serverReader(config);
    for (const name of config.names) {
      const other = known.get(name);
      // Of the usual files it is known which one counts.
      if (other !== undefined && paths.length > 0 && (!names || names.includes(name))) {
        await writeWarning(`"${name}" of "${config.path}" is left out: "${other}" has one of that name`);
      }
      if (other !== undefined) continue;
      known.set(name, config.path);
      if (names && !names.includes(name)) continue;
      try {
        const { target, headers, server, warnings } = read(name);
        for (const warning of warnings) await writeWarning(warning);
        if (!server.disabled) {
          const words = paths.length > 0 ? `${name} --config ${config.path}` : name;
          const destination = { target, headers, entry: { server, words }, hint: "" };
          servers.set(name, await configOf(destination, wanted, 'put credentials into the "headers" of its config'));
        } else if (names) await writeWarning(`"${name}" of "${config.path}" is left out: it is disabled there`);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        await writeWarning(error.message);
        noneWillDo = false;
      }
    }
  }
  const missing = names?.find((name) => !known.has(name));
  if (missing !== undefined) {
    throw new UsageError(`Unknown server "${missing}"${didYouMean(missing, [...known.keys()])}: correct --servers`);
  }
  if (!servers.size && !noneWillDo) {
    throw new UsageError(
      `There is no server in "${[...known.values(), ...files][0]}" that can be used: causeway servers add keeps one`,
    );
  }
  return servers;
}

async function configsOf(paths: readonly string[], mayBeNone: boolean): Promise<readonly Config[]> {
  const configs: Config[] = [];
  for (const path of paths.length ? paths : [undefined]) {
    configs.push(...await findConfigs(path, { leaveOut: writeWarning }));
  }
  if (configs.length > 0 || mayBeNone) return configs;
  throw new UsageError(`${noConfig}: causeway servers add makes one, and --config names one`);
}

/**
 * The one server that a target names, under a name for people.
 *
 * @throws {UsageError} When it is none.
 */
export async function serverOfTarget(
  target: string,
  options: { readonly config: string | undefined; readonly headers: Readonly<Record<string, string>> },
  wanted: Pick<Wanted, "timeout" | "world">,
): Promise<Map<string, Served>> {
  const destination = await resolveTarget(target, options);
  const name = (typeof destination.target === "string" ? readUrl(target)?.host : undefined) ?? target;
  return new Map([[oneLine(name).slice(0, 64) || "server", await configOf(destination, wanted)]]);
}

/**
 * Connects a hub to all of its servers, as far as they can be reached.
 *
 * @param what What it means that one cannot, as "without".
 * @throws The reason of the signal. Where that is the end of the command's own time, it is told what late programs have said.
 */
export async function connectAll(
  hub: Hub,
  servers: ReadonlyMap<string, Served>,
  { what, signal }: { readonly what: string; readonly signal: AbortSignal },
): Promise<void> {
  const spinner = createSpinner(`connects to ${servers.size} ${servers.size === 1 ? "server" : "servers"}`);
  const connecting = Promise.all(Array.from(servers, ([name, config]) => hub.add(name, config)));
  try {
    await unlessAborted(connecting, signal).finally(() => spinner.clear());
  } catch (error) {
    if (error instanceof DeadlineError) await tellDown(hub, servers, { what, late: error });
    throw error;
  }
}

/**
 * Tells of each server of a hub that is not connected, and why: what to do, where that is known.
 *
 * @param what What it means, as "without".
 * @param late The end of the command's own time: whoever that alone is known of is not told of.
 */
export async function tellDown(
  hub: Hub,
  servers: ReadonlyMap<string, Served>,
  { what, late }: { readonly what: string; readonly late?: Error },
): Promise<void> {
  const { errors } = hub;
  for (const { name, state } of hub.status()) {
    if (state === "connected") continue;
    const error = errors.get(name) ?? late;
    const advised = await servers.get(name)?.advise?.(error) ?? error;
    if (late && advised === late) continue;
    const why = advised instanceof Error ? advised.message : state;
    await writeError(`causeway: ${what} "${oneLine(name)}": ${oneLine(why)}\n`);
  }
}

/** @param otherwise What helps where nobody has signed in; undefined: what helps any command. */
async function configOf(
  destination: Destination,
  { timeout, world }: Pick<Wanted, "timeout" | "world">,
  otherwise?: string,
): Promise<Served> {
  const { target, headers, entry } = destination;
  const about: ServerSettings & Partial<ServerNotes> = entry?.server ?? {};
  // Whoever asked for a disabled one by its name means it.
  const { secrets: known = [], signIn: _, disabled: _off, ...said } = about;
  const redactor = new Redactor();
  const secrets = [...Object.values(headers), ...Object.values(typeof target === "string" ? {} : target.env ?? {})];
  for (const secret of known) redactor.add(secret);
  for (const secret of secrets) for (const part of [secret, ...secret.split(" ")]) redactor.add(part);
  const settings = {
    ...said,
    redact: (text: string) => redactor.redact(text),
    timeouts: { ...said.timeouts, close: closeTime },
    ...(timeout !== undefined && { timeout }),
  };
  if (typeof target !== "string") {
    let words = "";
    let stray: string | undefined;
    let isConnected = false;
    const onStderr = (line: string): void => void (words = `${words}${line}\n`.slice(-keptWords));
    const logger: Logger = ({ fields }) => {
      if (!isConnected && typeof fields?.line === "string") stray ??= fields.line;
    };
    const onConnected = (): void => {
      isConnected = true;
      stray = undefined;
    };
    const advise = (error: unknown): Promise<unknown> => {
      const advised = strayError(lateError(error, words), stray);
      // One that has ended is started anew, and speaks for itself then.
      words = "";
      stray = undefined;
      isConnected &&= !(error instanceof McpError && isBroken(origin(error)));
      return Promise.resolve(advised);
    };
    return { ...settings, ...target, onStderr, logger, onConnected, advise };
  }
  await warnOfPlainHttp(destination);
  const used = await findSignIn(world, destination);
  const advise = (error: unknown): Promise<unknown> =>
    withAdvice(error, destination, used, otherwise).catch(() => error);
  return { ...settings, url: target, headers: { ...headers }, ...(used && { auth: used.oauth }), advise };
}
