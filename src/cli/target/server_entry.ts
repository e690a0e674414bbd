/**
 * What a config says of its servers.
 *
 * @module
 */
import { resolve } from "node:path";
import process from "node:process";
import { workspaceOf } from "../../hub/config/locations.ts";
import { readHubConfig } from "../../hub/config/read.ts";
import type { ReadConfig, ReadOptions, ReadServer } from "../../hub/config/types.ts";
import type { StdioCommand } from "../../transport/stdio.ts";
import { UsageError } from "../failure.ts";
import { platformHere, userHome } from "./place.ts";
import type { Config } from "./place.ts";

/** How a server is reached. */
export interface ServerEntry {
  readonly target: string | StdioCommand;
  readonly headers: Readonly<Record<string, string>>;
  /** All that the config says of it. */
  readonly server: ReadServer;
  /** What should be looked at, in one line each. */
  readonly warnings: readonly string[];
}

/**
 * One server of a config, with its variables filled in. A relative `cwd` is meant from the folder of the file.
 *
 * @throws {UsageError} When something in it is wrong, or a variable is not set.
 */
export function readServer(config: Config, name: string): ServerEntry {
  return entryOf(config, name, understand(config.path, config.text, name));
}

/** Reads servers of a config as `readServer` does, and its text once for all of them. */
export function serverReader(config: Config): (name: string) => ServerEntry {
  const read = readAll(config);
  return (name) => read ? entryOf(config, name, read) : readServer(config, name);
}

/** Undefined where each server has to be read by itself. */
function readAll({ path, text }: Config): ReadConfig | undefined {
  try {
    const read = understand(path, text);
    // Of so many problems not all are kept.
    return read.problems.some(({ code }) => code === "more") ? undefined : read;
  } catch {
    // Deno gives no variable that --allow-env does not name; the server that wants it may be one that nobody asks for.
    return undefined;
  }
}

function entryOf({ path }: Config, name: string, { servers, problems }: ReadConfig): ServerEntry {
  const about = problems.filter(({ server }) => server === name);
  const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (!server) {
    const wrong = about.find(({ severity }) => severity === "error") ?? about[0];
    throw new UsageError(wrong?.message ?? `Cannot use "${name}" of "${path}": its name may not be used`);
  }
  // That it is reached without encryption is told where one connects.
  const warnings = about.filter(({ code }) => code !== "plain-text").map(({ message }) => message);
  if ("url" in server) return { target: server.url, headers: server.headers ?? {}, server, warnings };
  const { command, args, env, cwd } = server;
  return { target: { command, args, env, ...(cwd !== undefined && { cwd }) }, headers: {}, server, warnings };
}

/**
 * Reads a config. What an editor would ask for (`${input:api-key}`) is read from a variable (`CAUSEWAY_INPUT_API_KEY`).
 *
 * @param only The server whose variables are filled in; empty: none; undefined: all.
 */
export function understand(path: string, text: string, only?: string): ReadConfig {
  const options: ReadOptions = {
    source: path,
    environment: process.env,
    platform: platformHere(),
    home: userHome(),
    folder: workspaceOf(resolve(path)),
    only,
  };
  const first = readHubConfig(text, options);
  if (first.inputs.length === 0) return first;
  // An empty variable counts as missing, as any other does.
  const inputs = Object.fromEntries(first.inputs.map(({ id }) => [id, process.env[inputVariable(id)] || undefined]));
  const { problems, ...read } = readHubConfig(text, { ...options, inputs });
  return { ...read, problems: problems.map((problem) => ({ ...problem, message: withVariable(problem.message) })) };
}

/** The variable that stands for what an editor would ask for. */
export function inputVariable(id: string): string {
  return `CAUSEWAY_INPUT_${id.toUpperCase().replace(/\W/g, "_")}`;
}

function withVariable(message: string): string {
  return message.replace(
    /(the input "([\w.-]+)" was not answered): give its value$/,
    (_, what: string, id: string) => `${what}: set ${inputVariable(id)}`,
  );
}
