/**
 * Config files: servers by name, in the shapes that editors and assistants write (`mcpServers`, `servers`). They are only
 * read, never written.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import process from "node:process";
import { isObject, isTexts } from "../../protocol/json_rpc.ts";
import type { StdioCommand } from "../../transport/mod.ts";
import { UsageError } from "../failure.ts";
import { parseJson, readText } from "../read.ts";
import { isHeader } from "./headers.ts";

/** A config file that was read. */
export interface Config {
  readonly path: string;
  /** The servers by name; each is checked when it is asked for. */
  readonly servers: Readonly<Record<string, unknown>>;
}

/** How a server is reached. */
export interface ServerEntry {
  readonly target: string | StdioCommand;
  readonly headers: Readonly<Record<string, string>>;
}

const usualPaths = ["mcp.json", ".mcp.json"];

/**
 * Reads the config file: the given one, else `./mcp.json` or `./.mcp.json`, whichever is there; undefined when none is.
 *
 * @throws {UsageError} When the given file cannot be read, or one that is there is no config.
 */
export async function loadConfig(given: string | undefined): Promise<Config | undefined> {
  for (const path of given === undefined ? usualPaths : [given]) {
    const where = `the config "${path}"`;
    const text = await readText(path, where);
    if (text !== undefined) return { path, servers: parse(text, where) };
    if (given !== undefined) throw new UsageError(`Cannot read ${where}: there is no such file; correct --config`);
  }
  return undefined;
}

/**
 * One server of a config, with `${VARIABLE}`, `${VARIABLE:-default}` and `${env:VARIABLE}` filled in. A relative `cwd` is
 * meant from the folder of the file.
 *
 * @throws {UsageError} When the entry is neither a command nor a URL, or a variable is not set.
 */
export function readServer({ path, servers }: Config, name: string): ServerEntry {
  const wrong = (what: string): UsageError => new UsageError(`Cannot use "${name}" of "${path}": ${what}`);
  const fill = (text: string): string => fillIn(text, wrong);
  const entry = servers[name];
  if (!isObject(entry)) throw wrong('expected { "command": … } or { "url": … }');
  const { command, args = [], env = {}, cwd, url, headers = {} } = entry;
  if (typeof url === "string") {
    const filled = texts(headers, () => wrong('"headers" has to hold texts'), fill);
    const bad = Object.entries(filled).find(([key, value]) => !isHeader(key, value));
    // Its value may be a secret: only the name is shown.
    if (bad) throw wrong(`the header ${JSON.stringify(bad[0])} holds characters that cannot be sent; use plain ones`);
    return { target: fill(url), headers: filled };
  }
  if (typeof command !== "string" || command === "") throw wrong('it has neither a "command" nor a "url"');
  if (!isTexts(args)) {
    throw wrong('"args" has to be a list of texts');
  }
  if (cwd !== undefined && typeof cwd !== "string") throw wrong('"cwd" has to be the path of a folder');
  const target = {
    command: fill(command),
    args: args.map(fill),
    env: texts(env, () => wrong('"env" has to hold texts'), fill),
    ...(cwd !== undefined && { cwd: resolve(dirname(path), fill(cwd)) }),
  };
  return { target, headers: {} };
}

function parse(text: string, where: string): Record<string, unknown> {
  const value = parseJson(text, where, "correct the file");
  const servers = isObject(value) ? value.mcpServers ?? value.servers : undefined;
  if (!isObject(servers)) {
    throw new UsageError(`Cannot use ${where}: expected { "mcpServers": { "<name>": { … } } }`);
  }
  return servers;
}

function texts(value: unknown, wrong: () => UsageError, fill: (text: string) => string): Record<string, string> {
  if (!isObject(value)) throw wrong();
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (typeof item !== "string") throw wrong();
      return [key, fill(item)];
    }),
  );
}

function fillIn(text: string, wrong: (what: string) => UsageError): string {
  return text.replace(/\$\{(?:env:)?(\w+)(?::-([^}]*))?\}/g, (_, name: string, other: string | undefined) => {
    const value = process.env[name] || other;
    if (value === undefined) throw wrong(`the environment variable "${name}" is not set; set it`);
    return value;
  });
}
