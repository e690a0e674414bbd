/**
 * `causeway servers discover`: which servers editors and assistants know in this folder, and which file counts for each.
 *
 * @module
 */
import process from "node:process";
import { discoverConfigs } from "../../../hub/config/mod.ts";
import type { Discovery, FoundServer, Origin } from "../../../hub/config/mod.ts";
import { readConfigFile } from "../../../runtime/config_file.ts";
import type { CommandLine } from "../../command_line.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { platformHere, userHome } from "../../target/place.ts";
import { writeError, writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";
import { placeOf, placeText, rowsText } from "./place.ts";
import type { Row } from "./place.ts";

/** Looks, tells, and answers the exit code. */
export async function discoverServers(line: CommandLine): Promise<number> {
  if (line.config !== undefined) {
    throw new UsageError(
      "Cannot use --config with discover: it looks for files itself; causeway servers list reads one",
    );
  }
  const home = userHome();
  if (home === undefined) {
    throw new UsageError("Cannot find your own folder: set HOME, or USERPROFILE on Windows");
  }
  const found = await discoverConfigs({
    folder: process.cwd(),
    home,
    platform: platformHere(),
    environment: process.env,
    read: readConfigFile,
  });
  await writeOut(line.json ? plainJson(asJson(found)) + "\n" : asText(found));
  for (const { severity, message } of found.problems) {
    await writeError(`causeway: ${severity === "warning" ? "warning: " : ""}${oneLine(message)}\n`);
  }
  if (found.servers.length === 0) await writeError("causeway: no editor or assistant has servers here\n");
  return exitCodes.ok;
}

function asText({ files, servers }: Discovery): string {
  return files.filter(({ names }) => names.length > 0).map((file) => {
    const rows = file.names.flatMap((name) => servers.find((server) => server.name === name) ?? []);
    const whose = `${oneLine(file.path)}  ${file.client}, ${
      file.scope === "workspace" ? "of this folder" : "your own"
    }`;
    return rowsText(whose, rows.map((server) => rowOf(server, file)));
  }).join("\n");
}

function rowOf({ name, origin, server, shadows }: FoundServer, file: Origin): Row {
  if (!isSame(origin, file)) return { name, text: `does not count: ${oneLine(origin.path)} comes first` };
  const others = shadows.map(({ path }) => oneLine(path)).join(", ");
  const text = server ? placeText(placeOf(server)) : "cannot be used";
  return { name, text: others === "" ? text : `${text}  counts before ${others}` };
}

/** One file may be looked into for the folder, and for the person. */
function isSame(one: Origin, other: Origin): boolean {
  return one.path === other.path && one.client === other.client && one.scope === other.scope;
}

function asJson({ files, servers, problems }: Discovery): unknown {
  return {
    files: files.map(({ client, scope, path, names }) => ({ client, scope, path, servers: names })),
    servers: servers.map(({ name, origin, server, shadows }) => ({
      name,
      ...origin,
      ...(server ? placeOf(server) : { problem: "cannot be used: see problems" }),
      shadows,
    })),
    problems: problems.map(({ severity, message, source, server, field }) => ({
      severity,
      message,
      path: source,
      ...(server !== undefined && { server }),
      ...(field !== undefined && { field }),
    })),
  };
}
