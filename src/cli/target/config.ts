/**
 * Config files: servers by name, in the shapes that editors and assistants write. They are only read, never written; what
 * understands them is loaded when there is one.
 *
 * @module
 */
import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import process from "node:process";
import { configLocations, pathOf } from "../../hub/config/locations.ts";
import { readOwnedFile } from "../../runtime/config_file.ts";
import type { ConfigFile } from "../../runtime/config_file.ts";
import { UsageError } from "../failure.ts";
import { isTrustedOwner, platformHere, userHome } from "./place.ts";
import type { Config } from "./place.ts";

const folderPaths = ["causeway.json", "mcp.json", ".mcp.json"];
const maxBytes = 1024 * 1024;

/** What to say where there is none: what follows says what to do. */
export const noConfig = "There is no config ./causeway.json, ./mcp.json or ./.mcp.json, nor one of your own";

/** How configs are looked for. */
export interface FindOptions {
  /** The name after whose file no other is read: what is wrong there does not matter then. */
  readonly until?: string;
  /** Is told why another user's is left out, where there are others. Default: then there is an error. */
  readonly leaveOut?: (why: string) => Promise<void> | void;
}

/**
 * Reads the given config file, else those of `./causeway.json`, `./mcp.json`, `./.mcp.json` and the person's own that are
 * there: of two that have a name the first counts.
 *
 * @throws {UsageError} When the given file cannot be read, one that is there is no config, or one of the folder that has what is wanted
 * is another user's: its programs would run as this one.
 */
export async function findConfigs(
  given: string | undefined,
  { until, leaveOut }: FindOptions = {},
): Promise<readonly Config[]> {
  const found: Config[] = [];
  const foreign: UsageError[] = [];
  for (const path of given === undefined ? usualPaths() : [given]) {
    const file = given === undefined ? await readUsual(path) : await read(path);
    if (file) {
      const { text, owners } = file;
      const { understand } = await import("./server_entry.ts");
      const { names, problems } = understand(path, text, "");
      const isMeant = until === undefined || names.some((name) => until === name || until.startsWith(`${name}.`));
      if (given === undefined && isForeign(path, owners)) {
        if (isMeant && !leaveOut) throw foreignConfig(path);
        if (isMeant) foreign.push(foreignConfig(path));
        continue;
      }
      const wrong = problems.find(({ severity, server }) => severity === "error" && server === undefined);
      if (wrong && names.length === 0) throw new UsageError(`Cannot use the config: ${wrong.message}`);
      found.push({ path, names, text });
      if (until !== undefined && names.includes(until)) break;
    } else if (given !== undefined) {
      throw new UsageError(`Cannot read the config "${path}": there is no such file; correct --config`);
    }
  }
  for (const error of foreign) {
    if (found.length === 0) throw error;
    await leaveOut?.(error.message);
  }
  return found;
}

function usualPaths(): string[] {
  const own = ownConfig();
  return own === undefined || folderPaths.some((path) => resolve(path) === own) ? folderPaths : [...folderPaths, own];
}

/** The person's own config, which the command writes; undefined where a person has no folder. */
export function ownConfig(
  find: () => string | undefined = userHome,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const place = configLocations.find(({ client, scope }) => client === "Causeway" && scope === "user");
  // Where CAUSEWAY_HOME or its like says the place, none of one's own is needed.
  const home = find() ?? "\0";
  const path = place && pathOf(place, { folder: "", home, platform: platformHere(), environment });
  return path?.startsWith("\0") ? undefined : path;
}

/**
 * Sees that a config of the working folder may be changed: the new one is this user's, with all that was in it.
 *
 * @throws {UsageError} When it is another user's.
 */
export async function refuseForeign(path: string): Promise<void> {
  const file = await readUsual(path);
  if (file && isForeign(path, file.owners)) throw foreignConfig(path);
}

/** Whether a config of the working folder is another user's; one's own stands where the person has said. */
function isForeign(path: string, owners: readonly number[]): boolean {
  return resolve(path) !== ownConfig() && !owners.every((owner) => isTrustedOwner(owner));
}

function foreignConfig(path: string): UsageError {
  const advice = `--config ${path} takes it all the same`;
  return new UsageError(`Cannot use "${path}": it is another user's, and its servers would run as you; ${advice}`);
}

/** What is wrong with another user's matters as little as what is in it: it may well be one that only they may read. */
async function readUsual(path: string): Promise<ConfigFile | undefined> {
  try {
    return await read(path);
  } catch (error) {
    const owners = await lstat(path).then(({ uid }) => [uid], () => []);
    if (!isForeign(path, owners)) throw error;
    return { text: "", owners };
  }
}

async function read(path: string): Promise<ConfigFile | undefined> {
  try {
    return await readOwnedFile(path, maxBytes);
  } catch (error) {
    throw new UsageError(`Cannot read the config "${path}": ${error instanceof Error ? error.message : String(error)}`);
  }
}
