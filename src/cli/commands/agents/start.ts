/**
 * `causeway start`: the runner on this machine, for the person in front of it.
 *
 * @module
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import type { LanguageModel } from "../../../agent/model/seam.ts";
import { createFileStore, openDatabase } from "../../../entry/local.ts";
import type { SqlDatabase } from "../../../entry/local.ts";
import { directiveModel } from "../../../agent/model/directive_model.ts";
import { chooseModel as modelOfSettings } from "../../../entry/runner/chosen_model.ts";
import { startLocalRunner } from "../../../entry/runner/local_runner.ts";
import { hideSecrets } from "../../../hub/config/mod.ts";
import type { ReadServer } from "../../../hub/config/mod.ts";
import type { Store } from "../../../ports.ts";
import { McpError } from "../../../protocol/mod.ts";
import { type CommandLine, optionOf } from "../../command_line.ts";
import { UsageError } from "../../failure.ts";
import { checkFolder, whyNot } from "../../read.ts";
import { cannotListen } from "../../serve/http.ts";
import { readPort } from "../../serve/options.ts";
import { ended } from "../../serve/serve.ts";
import { findConfigs } from "../../target/config.ts";
import { warnOfPlainHttp } from "../../target/plain_http.ts";
import { serverReader } from "../../target/server_entry.ts";
import { writeError, writeOut, writeWarning } from "../../terminal.ts";
import { oneLine } from "../../text/plain.ts";
import { loadHeardHub } from "../../wire/heard_hub.ts";
import { createFaultTeller } from "./faults.ts";
import { chooseModel } from "./model.ts";

const defaultPort = 8790;
const hostname = "127.0.0.1";

/** Serves until it is interrupted. */
export async function start(line: CommandLine, signal: AbortSignal): Promise<number> {
  const port = readPort(optionOf(line, "port"), defaultPort);
  const folder = optionOf(line, "store");
  const model = await modelOf(line);
  const servers = await serversOf(line);
  const store = folder === undefined ? undefined : await openStore(folder);
  const database = await openRuns(line, folder);
  const hidden = hideSecrets(servers);
  const openHub = await loadHeardHub(line, new Map(Object.entries(hidden)));
  await using local = await startLocalRunner({
    ...{ servers: hidden, notes: hidden, port, model, openHub, logger: createFaultTeller() },
    ...(database && { database }),
    ...(store && { store }),
  }).catch((error: unknown) => {
    throw cannotListen(error, { hostname, port });
  });
  const count = Object.keys(servers).length;
  await writeOut(`The runner is at ${local.url}, with ${count} ${count === 1 ? "server" : "servers"}\n`);
  await writeOut(`Begin here, once, within ten minutes: ${local.signInUrl}\n`);
  if (line.options?.key) await writeOut(`API key: ${local.apiKey}\n`);
  await ended(signal);
  throw signal.reason;
}

/** That of the options or of CAUSEWAY_MODEL and its like, else that of OPENAI_MODEL and its like. */
async function modelOf(line: CommandLine): Promise<LanguageModel> {
  const { CAUSEWAY_MODEL, CAUSEWAY_MODEL_URL, OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL } = process.env;
  const isOurs = optionOf(line, "model") ?? optionOf(line, "model-url") ?? (CAUSEWAY_MODEL || CAUSEWAY_MODEL_URL);
  if (isOurs) return chooseModel(line, process.env) ?? directiveModel();
  if (!OPENAI_MODEL) {
    // A key is there for many programs: it says nothing of what is wanted here.
    if (OPENAI_API_KEY || OPENAI_BASE_URL) {
      await writeError("causeway: OPENAI_MODEL is not set: the agent follows directives\n");
    }
    return await modelOfSettings({});
  }
  try {
    return await modelOfSettings({
      OPENAI_API_KEY,
      OPENAI_BASE_URL: OPENAI_BASE_URL || "https://api.openai.com/v1",
      OPENAI_MODEL,
    });
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(`Cannot use the model: ${error.message}`) : error;
  }
}

/** The folder is looked at now: later somebody would wait for what cannot be kept. */
async function openStore(folder: string): Promise<Store> {
  await checkFolder(folder);
  const store = createFileStore(folder);
  // It is written to, too: a folder may be read-only, or not there where none can be made. Nothing is changed.
  await store.compareAndSet("start", undefined, undefined).catch((error: unknown) => {
    if (!(error instanceof McpError)) throw error;
    throw new UsageError(`Cannot use --store "${folder}": ${error.message.replace(/^Cannot [^"]*"[^"]*": /, "")}`);
  });
  return store;
}

/** Where runs are kept: `--runs`, else `runs.db` of `--store`, else memory. Undefined, and said, where there is no SQLite. */
async function openRuns(line: CommandLine, folder: string | undefined): Promise<SqlDatabase | undefined> {
  const given = optionOf(line, "runs");
  const path = given ?? (folder === undefined ? ":memory:" : join(folder, "runs.db"));
  try {
    if (given === undefined && folder !== undefined) await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return await openDatabase(path);
  } catch (error) {
    if (given !== undefined) throw new UsageError(`${whyNot(error)}; correct --runs`);
    await writeError(`causeway: no runs are kept: ${oneLine(whyNot(error))}\n`);
    return undefined;
  }
}

/** Those of the configs, of two with one name the first; one that cannot be used is told and left out. */
async function serversOf(line: CommandLine): Promise<Readonly<Record<string, ReadServer>>> {
  const servers = new Map<string, ReadServer>();
  const known = new Set<string>();
  for (const config of await findConfigs(line.config, { leaveOut: writeWarning })) {
    const read = serverReader(config);
    for (const name of config.names.filter((name) => !known.has(name))) {
      known.add(name);
      try {
        const entry = read(name);
        for (const warning of entry.warnings) await writeWarning(warning);
        if (!entry.server.disabled) await warnOfPlainHttp(entry);
        servers.set(name, entry.server);
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        await writeError(`causeway: ${oneLine(error.message)}\n`);
      }
    }
  }
  return Object.fromEntries(servers);
}
