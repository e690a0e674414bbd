/**
 * `causeway servers list`: the servers of the config in use.
 *
 * @module
 */
import { resolve } from "node:path";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { findConfigs, noConfig } from "../../target/config.ts";
import { serverReader } from "../../target/server_entry.ts";
import type { Config } from "../../target/place.ts";
import { writeError, writeOut, writeWarning } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { placeOf, placeText, rowsText } from "./place.ts";
import type { Place } from "./place.ts";

/** One server: where it is, or why it cannot be used. */
interface Listed {
  readonly name: string;
  readonly place?: Place;
  readonly problem?: string;
  /** The file before it that has the name, too. */
  readonly behind?: string;
  readonly warnings: readonly string[];
}

/** The servers of one file. */
interface ListedFile {
  readonly path: string;
  readonly shown: string;
  readonly listed: readonly Listed[];
}

/** Lists them, file by file, and answers the exit code. */
export async function listServers(line: CommandLine): Promise<number> {
  const configs = await findConfigs(line.config, { leaveOut: writeWarning });
  if (configs.length === 0) {
    throw new UsageError(
      `${noConfig}: causeway servers add makes one, --config names one, and causeway servers discover looks for others`,
    );
  }
  const files = configs.map((config, index) => listFile(config, configs.slice(0, index)));
  await writeOut(line.json ? plainJson(asJson(files)) + "\n" : files.map(asText).join("\n"));
  for (const { listed, shown } of files) {
    for (const { problem, warnings } of listed) {
      for (const warning of warnings) await writeWarning(warning);
      if (problem) await writeError(`causeway: ${oneLine(problem)}\n`);
    }
    if (listed.length === 0) await writeError(`causeway: "${oneLine(shown)}" has no servers\n`);
  }
  return exitCodes.ok;
}

function asText({ path, listed }: ListedFile): string {
  const rows = listed.map(({ name, place, behind }) => {
    const text = place ? placeText(place) : "cannot be used";
    return { name, text: behind === undefined ? text : `does not count: ${oneLine(behind)} comes first` };
  });
  return rowsText(oneLine(path), rows);
}

/** The first file, and where there are more: those, in the same form. */
function asJson([first, ...more]: readonly ListedFile[]): unknown {
  const plainFile = ({ path, listed }: ListedFile): Record<string, unknown> => ({
    path,
    servers: listed.map(({ name, place, problem, behind }) => ({
      name,
      ...place,
      ...(problem && { problem }),
      ...(behind !== undefined && { shadowedBy: behind }),
    })),
  });
  return first && { ...plainFile(first), ...(more.length > 0 && { more: more.map(plainFile) }) };
}

function listFile(config: Config, before: readonly Config[]): ListedFile {
  const read = serverReader(config);
  const listed = config.names.map((name): Listed => {
    const first = before.find(({ names }) => names.includes(name));
    if (first) return { name, behind: resolve(first.path), warnings: [] };
    try {
      const { server, warnings } = read(name);
      return { name, place: placeOf(server), warnings };
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      return { name, problem: error.message, warnings: [] };
    }
  });
  return { path: resolve(config.path), shown: config.path, listed };
}
