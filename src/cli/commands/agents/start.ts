/**
 * `causeway start`: the runner on this machine, for the person in front of it.
 *
 * @module
 */
import { createFileStore } from "../../../entry/local.ts";
import { startLocalRunner } from "../../../entry/runner/local_runner.ts";
import { hideSecrets } from "../../../hub/config/mod.ts";
import type { ReadServer } from "../../../hub/config/mod.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { UsageError } from "../../failure.ts";
import { readPort } from "../../serve/options.ts";
import { ended } from "../../serve/serve.ts";
import { loadConfig } from "../../target/config.ts";
import { readServer } from "../../target/server_entry.ts";
import { writeError, writeOut } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";

const defaultPort = 8790;

/** Serves until it is interrupted. */
export async function start(line: CommandLine, signal: AbortSignal): Promise<number> {
  const port = readPort(optionOf(line, "port"), defaultPort);
  const folder = optionOf(line, "store");
  const servers = await serversOf(line);
  await using local = await startLocalRunner({
    servers: hideSecrets(servers),
    port,
    ...(folder !== undefined && { store: createFileStore(folder) }),
  }).catch((error: unknown) => {
    throw new UsageError(`Cannot start at port ${port}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const count = Object.keys(servers).length;
  await writeOut(`The runner is at ${local.url}, with ${count} ${count === 1 ? "server" : "servers"}\n`);
  await writeOut(`Begin here, once, within ten minutes: ${local.signInUrl}\n`);
  if (line.options?.key) await writeOut(`API key: ${local.apiKey}\n`);
  await ended(signal);
  throw signal.reason;
}

/** Those of the config; one that cannot be used is told and left out. */
async function serversOf(line: CommandLine): Promise<Readonly<Record<string, ReadServer>>> {
  const config = await loadConfig(line.config);
  const servers: [string, ReadServer][] = [];
  for (const name of config?.names ?? []) {
    try {
      if (config) servers.push([name, readServer(config, name).server]);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      await writeError(`causeway: ${oneLine(error.message)}\n`);
    }
  }
  return Object.fromEntries(servers);
}
