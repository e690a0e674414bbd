/**
 * `causeway servers add <name> <target>`: keeps a server under a name, once it has answered.
 *
 * @module
 */
import { dirname } from "node:path";
import process from "node:process";
import { anchor } from "../../config/anchor.ts";
import { openOwn, saveServers } from "../../config/own.ts";
import type { CommandLine } from "../../command_line.ts";
import type { JsonObject } from "../../../protocol/json_rpc.ts";
import { describeFailure, exitCodes, UsageError } from "../../failure.ts";
import { withDestination } from "../../session/session.ts";
import { readServer } from "../../target/server_entry.ts";
import { resolveTarget } from "../../target/target.ts";
import type { Destination } from "../../target/target.ts";
import { writeError, writeOut, writeWarning } from "../../terminal.ts";
import { oneLine, plainJson } from "../../text/plain.ts";

/** Verifies, saves, and answers the exit code. */
export async function addServer(line: CommandLine, signal: AbortSignal): Promise<number> {
  const [name, target, ...more] = line.words;
  const usage = "write causeway servers add <name> <target>";
  if (name === undefined || target === undefined) {
    throw new UsageError(`The ${name === undefined ? "name" : "target"} is missing: ${usage}`);
  }
  if (more.length > 0) {
    throw new UsageError(`Unexpected "${more[0]}" after the target: put a command with spaces into quotes`);
  }
  if (!/^[A-Za-z0-9][\w-]{0,63}$/.test(name)) {
    throw new UsageError(`Cannot use the name "${name}": use letters, digits, - and _, at most 64`);
  }
  const config = await openOwn(line);
  if (Object.hasOwn(config.servers, name) && line.options?.replace === undefined) {
    throw new UsageError(`"${name}" is in "${config.path}" already: take another name, or add --replace`);
  }
  const entry = anchor(await entryOf(target, line), process.cwd(), dirname(config.path));
  // Read as it will be, so that its variables are filled in and its fields are judged.
  const text = JSON.stringify({ mcpServers: { [name]: entry } });
  const read = readServer({ path: config.path, names: [name], text }, name);
  for (const warning of read.warnings) await writeWarning(warning);
  let found: Awaited<ReturnType<typeof verify>> | undefined;
  if (line.options?.unchecked === undefined) {
    try {
      found = await verify({ ...read, entry: { server: read.server, words: name }, hint: "" }, line, signal);
    } catch (error) {
      const { exitCode, line: says } = describeFailure(error);
      if (exitCode !== exitCodes.unreachable) throw error;
      await writeError(`causeway: ${says}; to keep it all the same, add --unchecked\n`);
      return exitCode;
    }
  }
  await saveServers(config, new Map([[name, entry]]));
  const about = found === undefined ? "unchecked" : `${found.tools} tools, ${found.revision}`;
  await writeOut(
    line.json
      ? plainJson({ name, path: config.path, ...found }) + "\n"
      : `Added ${name} to ${oneLine(config.path)}: ${about}\n`,
  );
  return exitCodes.ok;
}

/** What is written: variables of the command line stay variables. */
async function entryOf(text: string, line: CommandLine): Promise<JsonObject> {
  const { target, entry } = await resolveTarget(text, { config: undefined, headers: line.headers });
  if (entry) throw new UsageError(`"${text}" is the name of a server already: give a URL or a command`);
  if (typeof target === "string") {
    const headers = line.headers;
    return { url: target, ...(Object.keys(headers).length > 0 && { headers: { ...headers } }) };
  }
  const { command, args = [], env = {} } = target;
  return { command, args: [...args], ...(Object.keys(env).length > 0 && { env: { ...env } }) };
}

async function verify(
  destination: Destination,
  line: CommandLine,
  signal: AbortSignal,
): Promise<{ server: string; revision: string; tools: number }> {
  let found = { server: "", revision: "", tools: 0 };
  await withDestination(destination, line, {
    signal,
    async use(client, signal) {
      const tools = client.info?.capabilities.tools ? (await client.listTools({ signal })).tools.length : 0;
      found = {
        server: oneLine(client.info?.server?.name ?? client.label),
        revision: client.revision ?? "",
        tools,
      };
      return exitCodes.ok;
    },
  });
  return found;
}
