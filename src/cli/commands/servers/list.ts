/**
 * `causeway servers list`: the servers of the config in use.
 *
 * @module
 */
import { resolve } from "node:path";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { loadConfig, readServer } from "../../target/config.ts";
import type { Config } from "../../target/config.ts";
import { writeError, writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { placeOf, placeText, rowsText } from "./place.ts";
import type { Place } from "./place.ts";

/** One server: where it is, or why it cannot be used. */
interface Listed {
  readonly name: string;
  readonly place?: Place;
  readonly problem?: string;
  readonly warnings: readonly string[];
}

/** Lists them, and answers the exit code. */
export async function listServers(line: CommandLine): Promise<number> {
  const config = await loadConfig(line.config);
  if (!config) {
    throw new UsageError(
      "There is no config ./mcp.json or ./.mcp.json: name one with --config; causeway servers discover looks for others",
    );
  }
  const listed = config.names.map((name) => list(config, name));
  const path = resolve(config.path);
  if (line.json) {
    const servers = listed.map(({ name, place, problem }) => ({ name, ...place, ...(problem && { problem }) }));
    await writeOut(plainJson({ path, servers }) + "\n");
  } else {
    const rows = listed.map(({ name, place }) => ({ name, text: place ? placeText(place) : "cannot be used" }));
    await writeOut(rowsText(oneLine(path), rows));
  }
  for (const { problem, warnings } of listed) {
    for (const warning of warnings) await writeError(`causeway: warning: ${oneLine(warning)}\n`);
    if (problem) await writeError(`causeway: ${oneLine(problem)}\n`);
  }
  if (listed.length === 0) await writeError(`causeway: "${oneLine(config.path)}" has no servers\n`);
  return exitCodes.ok;
}

function list(config: Config, name: string): Listed {
  try {
    const { server, warnings } = readServer(config, name);
    return { name, place: placeOf(server), warnings };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, problem: error.message, warnings: [] };
  }
}
