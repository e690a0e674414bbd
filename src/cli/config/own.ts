/**
 * The configs that the command writes: `causeway.json`, the person's own or that of the folder. Those of others are only read.
 *
 * @module
 */
import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { parseJsonc } from "../../hub/config/jsonc.ts";
import { serversPath, valueAt } from "../../hub/config/read.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import type { JsonObject, JsonValue } from "../../protocol/json_rpc.ts";
import { randomHex, systemClock, systemRandom } from "../../ports.ts";
import { readConfigFile } from "../../runtime/config_file.ts";
import { syncFile } from "../../runtime/stores/file_access.ts";
import { takeLock } from "../../runtime/stores/file_lock.ts";
import { knowSelf } from "../../runtime/stores/lock_owner.ts";
import type { CommandLine } from "../command_line.ts";
import { UsageError } from "../failure.ts";
import { checkFolder, whyNot } from "../read.ts";
import { ownConfig, refuseForeign } from "../target/config.ts";
import { editJson, putJson } from "./edit.ts";

/** What those that are written are called. */
export const fileName = "causeway.json";
const maxBytes = 1024 * 1024;
const empty = '{\n  "mcpServers": {}\n}\n';
/** Where servers stand in a config that has none. */
const usual: readonly string[] = ["mcpServers"];

/** A config that may be written. */
export interface OwnConfig {
  readonly path: string;
  /** What to say where it cannot be written. */
  readonly advice: string;
  /** What is in it; undefined when it is not there yet. */
  readonly text: string | undefined;
  /** Its servers, as they are written. */
  readonly servers: JsonObject;
}

/**
 * The config that a command is to change: `--config`, `--here` (`./causeway.json`), else the person's own.
 *
 * @throws {UsageError} When it is not ours to write, or cannot be read.
 */
export async function openOwn(line: CommandLine): Promise<OwnConfig> {
  const isHere = line.options?.here !== undefined;
  if (isHere && line.config !== undefined) throw new UsageError("Cannot use --here with --config: leave one out");
  const path = line.config ?? (isHere ? fileName : ownConfig());
  if (path === undefined) throw new UsageError("Cannot find your own folder: set CAUSEWAY_HOME, or use --here");
  if (basename(path) !== fileName) {
    throw new UsageError(
      `Cannot write "${path}": only files named ${fileName} are written, others are read; use --here or leave --config out`,
    );
  }
  await checkFolder(path);
  if (isHere) await refuseForeign(path);
  const advice = line.config !== undefined
    ? "correct --config"
    : isHere
    ? "leave --here out to use your own config"
    : "set CAUSEWAY_HOME to a folder of yours";
  return await readOwn(resolve(path), advice);
}

/** Reads one; a file that is not there has no servers. */
export async function readOwn(path: string, advice: string): Promise<OwnConfig> {
  const text = await readConfigFile(path, maxBytes).catch((error: Error) => {
    throw new UsageError(`Cannot read the config "${path}": ${error.message}`);
  });
  if (text === undefined) return { path, advice, text, servers: {} };
  return { path, advice, text, servers: rawServers(text, path) };
}

/** The servers of a text as they are written, with variables unfilled. */
function rawServers(text: string, path: string): JsonObject {
  const parsed = parseJsonc(text);
  if ("fault" in parsed) {
    const { line, column, what } = parsed.fault;
    throw new UsageError(`Cannot use the config: ${path}:${line}:${column}: ${what}`);
  }
  const { value } = parsed;
  const found = valueAt(value, serversPath(value) ?? usual) as JsonValue | undefined;
  const servers = isObject(value) ? found ?? {} : undefined;
  if (isObject(servers)) return servers;
  throw new UsageError(`Cannot use the config: ${path}: expected { "mcpServers": { "<name>": { … } } }`);
}

/**
 * Puts servers into it, each in the place of one of its name: all of them, or none.
 *
 * @throws {UsageError} When it cannot be written, or somebody else has changed it meanwhile.
 */
export async function saveServers(config: OwnConfig, entries: ReadonlyMap<string, JsonValue>): Promise<void> {
  const given = config.text ?? empty;
  const path = serversPath(valueOf(given));
  const text = path ? given : editJson(given, usual, {});
  await replace(config, putJson(text, path ?? usual, entries));
}

/**
 * Takes a server out of it.
 *
 * @throws {UsageError} When it cannot be written, or somebody else has changed it meanwhile.
 */
export async function removeServer(config: OwnConfig, name: string): Promise<void> {
  const text = config.text ?? empty;
  await replace(config, editJson(text, [...serversPath(valueOf(text)) ?? usual, name], undefined));
}

/**
 * Says of a server that is in it whether it is used, and leaves all else of it as it is written.
 *
 * @throws {UsageError} When it cannot be written, or somebody else has changed it meanwhile.
 */
export async function saveDisabled(config: OwnConfig, name: string, disabled: boolean): Promise<void> {
  let text = config.text ?? empty;
  const path = [...serversPath(valueOf(text)) ?? usual, name];
  const given = config.servers[name];
  const has = (field: string): boolean => valueAt(given, [field]) !== undefined;
  if (has("enabled")) text = editJson(text, [...path, "enabled"], undefined);
  if (disabled || has("disabled")) text = editJson(text, [...path, "disabled"], disabled ? true : undefined);
  await replace(config, text);
}

/** A new file in the place of the old one: whoever reads it sees the one or the other. */
async function replace({ path, advice, text: before }: OwnConfig, text: string): Promise<void> {
  if (new TextEncoder().encode(text).length > maxBytes) {
    throw new UsageError(`Cannot write "${path}": it would be larger than 1 MiB, and could not be read any more`);
  }
  const target = await realpath(path).catch(() => path);
  const draft = `${target}.${randomHex(systemRandom, 8)}.tmp`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    const mode = await stat(target).then(({ mode }) => mode & 0o777, () => 0o600);
    const file = await open(draft, "wx", mode);
    try {
      await file.writeFile(text);
      await syncFile(file);
    } finally {
      await file.close();
    }
    await alone(target, async () => {
      if (await readConfigFile(target, maxBytes) !== before) {
        throw new UsageError(`Cannot write "${path}": somebody else has changed it meanwhile; try again`);
      }
      await rename(draft, target);
    });
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot write "${path}": ${whyNot(error)}; ${advice}`);
  }
}

/** Does it while no other command does: of two that looked at the same time, the second would undo what the first has done. */
async function alone(target: string, work: () => Promise<void>): Promise<void> {
  const timeout = 10_000;
  const parts = { self: await knowSelf(), clock: systemClock, random: systemRandom };
  const lock = await takeLock(`${target}.lock`, { ...parts, timeout, until: systemClock.monotonic() + timeout });
  try {
    await work();
  } finally {
    await lock.release();
  }
}

function valueOf(text: string): unknown {
  const parsed = parseJsonc(text);
  return "value" in parsed ? parsed.value : undefined;
}
