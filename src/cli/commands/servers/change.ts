/**
 * `causeway servers remove`, `enable` and `disable`: changes of our own config.
 *
 * @module
 */
import { basename } from "node:path";
import { didYouMean } from "../../../hub/config/nearest.ts";
import { isObject } from "../../../protocol/json_rpc.ts";
import type { CommandLine } from "../../command_line.ts";
import { fileName, openOwn, removeServer as takeOut, saveDisabled } from "../../config/own.ts";
import type { OwnConfig } from "../../config/own.ts";
import { exitCodes, UsageError } from "../../failure.ts";
import { findConfigs } from "../../target/config.ts";
import type { Config } from "../../target/place.ts";
import { writeOut } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";

/** Takes a server out, and answers the exit code. */
export async function removeServer(line: CommandLine): Promise<number> {
  const { config, name } = await find(line);
  await takeOut(config, name);
  return await tell(line, { name, path: config.path, removed: true }, `Removed ${name} from ${oneLine(config.path)}`);
}

/** Lets a server be used again, and answers the exit code. */
export function enableServer(line: CommandLine): Promise<number> {
  return setDisabled(line, false);
}

/** Leaves a server where it is, unused, and answers the exit code. */
export function disableServer(line: CommandLine): Promise<number> {
  return setDisabled(line, true);
}

async function setDisabled(line: CommandLine, disabled: boolean): Promise<number> {
  const { config, name } = await find(line);
  if (!isObject(config.servers[name])) {
    throw new UsageError(`Cannot change "${name}" of "${config.path}": it is no object`);
  }
  await saveDisabled(config, name, disabled);
  const text = `${disabled ? "Disabled" : "Enabled"} ${name} in ${oneLine(config.path)}`;
  return await tell(line, { name, path: config.path, disabled }, text);
}

async function find(line: CommandLine): Promise<{ config: OwnConfig; name: string }> {
  const [name, ...more] = line.words;
  if (name === undefined) throw new UsageError(`The name is missing: write causeway ${line.command} <name>`);
  if (more.length > 0) throw new UsageError(`Unexpected "${more[0]}" after the name: leave it out`);
  const config = await openOwn(line);
  if (Object.hasOwn(config.servers, name)) return { config, name };
  const other = (await findConfigs(undefined, { until: name })).find(({ names }) => names.includes(name));
  if (other) {
    throw new UsageError(
      basename(other.path) === fileName
        ? `"${name}" is in "${other.path}": ${adviceFor(other, line)}`
        : `"${name}" is in "${other.path}", which is only read: change it there, or causeway servers import ${name} first`,
    );
  }
  const known = Object.keys(config.servers);
  throw new UsageError(
    `Unknown server "${name}" in "${config.path}"${didYouMean(name, known)}: causeway servers list shows them`,
  );
}

/** How to name the config that the server is in: that of the folder, or the person's own. */
function adviceFor({ path }: Config, { config }: CommandLine): string {
  const isHere = path === fileName;
  if (config === undefined) return isHere ? "add --here" : "leave --here out";
  return isHere ? "write --here in the place of --config" : "leave --config out";
}

async function tell(line: CommandLine, value: object, text: string): Promise<number> {
  await writeOut(line.json ? plainJson(value) + "\n" : `${text}\n`);
  return exitCodes.ok;
}
