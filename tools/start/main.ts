/** `bun run start`: the runner on this machine, with the servers of a config. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { hideSecrets, readHubConfig } from "../../src/hub/mod.ts";
import type { ReadServer } from "../../src/hub/mod.ts";
import { startLocalRunner } from "../../src/entry/runner/local_runner.ts";
import { chooseModel } from "../../src/entry/runner/chosen_model.ts";
import { createFileStore, openDatabase } from "../../src/entry/local.ts";
import type { SqlDatabase } from "../../src/entry/local.ts";
import { readConfigFile } from "../../src/runtime/config_file.ts";

const usage = `Serves the runner on this machine, for the person in front of it.

  bun run start [--config mcp.json] [--port 8790] [--store folder] [--key]

  --config  servers in any editor's shape ("mcpServers"); default: ./mcp.json or ./.mcp.json, where there is one
  --port    the port; 0 takes any free one
  --store   a folder for sign-ins, added servers, approvals and runs; default: memory
  --runs    the SQLite file of runs, which go on where a process was ended; default: runs.db in --store, else memory
  --key     prints an API key for programs, good until the runner ends

The agent "helper" thinks with the model of OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL; without them it follows directives
("call server.tool key=value").`;

/** Serves until it is interrupted. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      config: { type: "string" },
      port: { type: "string", default: "8790" },
      store: { type: "string" },
      runs: { type: "string" },
      key: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const port = Number(values.port);
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    console.error(`Cannot listen at port "${values.port}": expected a number from 0 to 65535`);
    return 2;
  }
  const servers = await readServers(values.config);
  if (!servers) return 2;
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      // What had installed packages would end the process at once.
      process.removeAllListeners(signal);
      process.once(signal, () => resolve());
    }
  });
  const database = await openRuns(
    values.runs ?? (values.store === undefined ? ":memory:" : join(values.store, "runs.db")),
  );
  const hidden = hideSecrets(servers);
  await using local = await startLocalRunner({
    servers: hidden,
    notes: hidden,
    port,
    model: await chooseModel(modelSettings()),
    ...(database && { database }),
    ...(values.store !== undefined && { store: createFileStore(values.store) }),
  });
  console.log(`The runner is at ${local.url}, with ${Object.keys(servers).length} servers (${local.url}/openapi.json)`);
  console.log(`Begin here, once, within ten minutes: ${local.signInUrl}`);
  if (values.key) console.log(`API key: ${local.apiKey}`);
  await interrupted;
  return 0;
}

/** Where runs are kept; undefined, and said, where that cannot be. */
async function openRuns(path: string): Promise<SqlDatabase | undefined> {
  try {
    if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return await openDatabase(path);
  } catch (error) {
    console.error(`No runs are kept: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function modelSettings(): { readonly [name: string]: string | undefined } {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = process.env;
  if (OPENAI_MODEL) return { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL };
  if (OPENAI_API_KEY || OPENAI_BASE_URL) console.error("OPENAI_MODEL is not set: the agent follows directives");
  return {};
}

async function readServers(given: string | undefined): Promise<Readonly<Record<string, ReadServer>> | undefined> {
  const path = given ?? ["mcp.json", ".mcp.json"].find((name) => existsSync(name));
  if (path === undefined) return {};
  const text = await readConfigFile(path, 1_048_576).catch((error: Error) => {
    console.error(`Cannot read the config "${path}": ${error.message}`);
    return null;
  });
  if (text === undefined) console.error(`Cannot read the config "${path}": there is no such file`);
  if (text === undefined || text === null) return undefined;
  const { servers, problems } = readHubConfig(text, { source: path, environment: process.env });
  for (const { message } of problems) console.error(message);
  return servers;
}
