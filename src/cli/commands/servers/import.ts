/**
 * `causeway servers import [name …]`: copies servers of editors and assistants into our own config, with their variables unfilled.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import process from "node:process";
import { discoverConfigs } from "../../../hub/config/mod.ts";
import type { Discovery, FoundServer } from "../../../hub/config/mod.ts";
import { parseJsonc } from "../../../hub/config/jsonc.ts";
import { configLocations, pathOf, workspaceOf } from "../../../hub/config/locations.ts";
import { didYouMean } from "../../../hub/config/nearest.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json_rpc.ts";
import { readConfigFile } from "../../../runtime/config_file.ts";
import type { CommandLine } from "../../command_line.ts";
import { anchor, unasked } from "../../config/anchor.ts";
import { openOwn, readOwn, saveServers } from "../../config/own.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { platformHere, userHome } from "../../target/place.ts";
import { inputVariable } from "../../target/server_entry.ts";
import { writeError, writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";

const maxBytes = 1024 * 1024;

/** Copies them, and answers the exit code. */
export async function importServers(line: CommandLine): Promise<number> {
  if (line.words.length === 0 && line.options?.all === undefined) {
    throw new UsageError(
      "It is not said which: name them, or add --all; causeway servers discover shows what there is",
    );
  }
  const own = await openOwn(line);
  const { files, servers: found } = await discover(own.path);
  const names = found.map(({ name }) => name);
  const unknown = line.words.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `Unknown server "${unknown}"${didYouMean(unknown, names)}: causeway servers discover shows what there is`,
    );
  }
  const wanted = found.filter(({ name }) => line.words.length === 0 || line.words.includes(name));
  const roots = new Map<string, JsonValue | undefined>();
  const rootOf = async (path: string): Promise<JsonValue | undefined> => {
    if (!roots.has(path)) roots.set(path, await readRoot(path));
    return roots.get(path);
  };
  const done: { name: string; from: string }[] = [];
  const entries = new Map<string, JsonObject>();
  const config = await readOwn(own.path, own.advice);
  for (const server of wanted) {
    const { name, origin } = server;
    if (Object.hasOwn(config.servers, name) && line.options?.replace === undefined) {
      await writeError(
        `causeway: left out "${oneLine(name)}": it is in "${oneLine(own.path)}" already; --replace takes the other\n`,
      );
      continue;
    }
    const raw = server.server && rawEntry(server, await rootOf(origin.path));
    const entry = raw && unasked(raw, files.find(({ path }) => path === origin.path)?.inputs ?? []);
    if (!entry) {
      await writeError(
        `causeway: left out "${oneLine(name)}": it cannot be used as it is in "${oneLine(origin.path)}"\n`,
      );
      continue;
    }
    entries.set(name, anchored(entry, origin, own.path));
    done.push({ name, from: origin.path });
  }
  // All in one: whoever breaks it off has none of them, or all.
  if (entries.size > 0) await saveServers(config, entries);
  const lines = done.map(({ name, from }) => `Imported ${oneLine(name)} from ${oneLine(from)}\n`);
  await writeOut(line.json ? plainJson({ path: own.path, imported: done }) + "\n" : lines.join(""));
  if (done.length === 0) await writeError("causeway: nothing was imported\n");
  return exitCodes.ok;
}

/** All but what is in the own config: that may hide what is to be taken. */
async function discover(own: string): Promise<Discovery> {
  const home = userHome();
  if (home === undefined) throw new UsageError("Cannot find your own folder: set HOME, or USERPROFILE on Windows");
  const { env } = process;
  const places = { folder: process.cwd(), home, platform: platformHere(), environment: env };
  const locations = configLocations.filter((one) => resolve(pathOf(one, places) ?? "") !== own);
  const options = { ...places, locations, read: readConfigFile };
  const first = await discoverConfigs(options);
  const asked = first.files.flatMap(({ inputs }) => inputs.map(({ id }) => [id, env[inputVariable(id)] || undefined]));
  return asked.length > 0 ? await discoverConfigs({ ...options, inputs: Object.fromEntries(asked) }) : first;
}

/** What a file holds. */
async function readRoot(path: string): Promise<JsonValue | undefined> {
  const parsed = parseJsonc(await readConfigFile(path, maxBytes) ?? "");
  return "value" in parsed ? parsed.value : undefined;
}

/** The entry as it is written in its file. */
function rawEntry({ name, origin }: FoundServer, root: JsonValue | undefined): JsonObject | undefined {
  const project = at(root, ["projects", process.cwd()]);
  const isProject = origin.scope === "workspace" && origin.path.endsWith(".claude.json");
  const holders = isProject
    ? [at(project, ["mcpServers"])]
    : [["mcpServers"], ["servers"], ["mcp", "servers"], ["context_servers"]].map((path) => at(root, path));
  const entry = holders.map((holder) => at(holder, [name])).find((found) => found !== undefined);
  return isObject(entry) ? entry : undefined;
}

/** What a folder's config says is meant from that folder. */
function anchored(entry: JsonObject, { path, scope }: FoundServer["origin"], own: string): JsonObject {
  if (scope !== "workspace") return entry;
  return anchor(entry, path.endsWith(".claude.json") ? process.cwd() : workspaceOf(path), dirname(own));
}

function at(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let inner: JsonValue | undefined = value;
  for (const name of path) inner = isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined;
  return inner;
}
