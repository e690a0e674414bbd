/**
 * Which servers are served, and how each is reached.
 *
 * @module
 */
import { Redactor } from "../../egress/redact.ts";
import type { ServerNotes } from "../../hub/config/mod.ts";
import type { ServerConfig, ServerSettings } from "../../hub/seam.ts";
import { findSignIn } from "../auth/use.ts";
import type { AuthWorld } from "../auth/oauth.ts";
import { UsageError } from "../failure.ts";
import { didYouMean } from "../../hub/config/nearest.ts";
import { findConfigs, noConfig } from "../target/config.ts";
import type { Config } from "../target/place.ts";
import { readServer } from "../target/server_entry.ts";
import { resolveTarget } from "../target/target.ts";
import type { Destination } from "../target/target.ts";
import { writeError } from "../terminal.ts";
import { oneLine } from "../text/plain.ts";
import { readUrl } from "../../egress/url.ts";

/** How long a child may take to end by itself, and again after SIGTERM, in milliseconds. */
const closeTime = 1_000;

/** A server as a hub takes it, with what its config says of its tools. */
export type Served = ServerConfig & Pick<ServerNotes, "approved" | "idempotent" | "pins">;

/** What is wanted of the servers. */
export interface Wanted {
  /** The names that are wanted; undefined: all. */
  readonly names: readonly string[] | undefined;
  /** Milliseconds that a server may take until it is connected. */
  readonly timeout: number | undefined;
  readonly world: AuthWorld;
}

/**
 * The servers of configs. One that cannot be used is told and left out; of several with one name the first counts.
 *
 * @param paths The files; none: those where names are looked up.
 * @throws {UsageError} When a file cannot be read, a wanted server is in none, or nothing is left.
 */
export async function serversOfConfigs(
  paths: readonly string[],
  { names, ...wanted }: Wanted,
): Promise<Map<string, Served>> {
  const servers = new Map<string, Served>();
  const known = new Map<string, string>();
  const files: string[] = [];
  for (const config of await configsOf(paths)) {
    files.push(config.path);
    for (const name of config.names) {
      const other = known.get(name);
      // Of the usual files it is known which one counts.
      if (other !== undefined && paths.length > 0 && (!names || names.includes(name))) {
        await warn(`"${name}" of "${config.path}" is left out: "${other}" has one of that name`);
      }
      if (other !== undefined) continue;
      known.set(name, config.path);
      if (names && !names.includes(name)) continue;
      try {
        const { target, headers, server, warnings } = readServer(config, name);
        for (const warning of warnings) await warn(warning);
        if (!server.disabled) {
          servers.set(name, await configOf({ target, headers, entry: { server, words: name }, hint: "" }, wanted));
        } else if (names) await warn(`"${name}" of "${config.path}" is left out: it is disabled there`);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        await warn(error.message);
      }
    }
  }
  const missing = names?.find((name) => !known.has(name));
  if (missing !== undefined) {
    throw new UsageError(`Unknown server "${missing}"${didYouMean(missing, [...known.keys()])}: correct --servers`);
  }
  if (!servers.size) {
    throw new UsageError(
      `There is no server in "${[...known.values(), ...files][0]}" that can be used: causeway servers add keeps one`,
    );
  }
  return servers;
}

async function configsOf(paths: readonly string[]): Promise<readonly Config[]> {
  const configs: Config[] = [];
  for (const path of paths.length ? paths : [undefined]) configs.push(...await findConfigs(path));
  if (configs.length > 0) return configs;
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
  wanted: Omit<Wanted, "names">,
): Promise<Map<string, Served>> {
  const destination = await resolveTarget(target, options);
  const name = (typeof destination.target === "string" ? readUrl(target)?.host : undefined) ?? target;
  return new Map([[oneLine(name).slice(0, 64) || "server", await configOf(destination, wanted)]]);
}

async function configOf(destination: Destination, { timeout, world }: Omit<Wanted, "names">): Promise<Served> {
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
  if (typeof target !== "string") return { ...settings, ...target };
  const used = await findSignIn(world, destination);
  return { ...settings, url: target, headers: { ...headers }, ...(used && { auth: used.oauth }) };
}

async function warn(text: string): Promise<void> {
  await writeError(`causeway: warning: ${oneLine(text)}\n`);
}
