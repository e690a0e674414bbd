/**
 * workerd alone, with objects on the disk, so that it can be killed.
 *
 * @module
 */
import type { BuildOptions } from "esbuild";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { workerBuild } from "../../../../tools/build/worker.ts";
import { endProcess } from "../../../../tools/process.ts";
import { root, workerdPath } from "../../../../tools/programs.ts";

/** A workerd that runs. */
export interface RunningWorkerd {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it has said that it stands at its point. */
  readonly stands: Promise<void>;
  /** What it has written. */
  output(): string;
  /** Ends it with SIGKILL, at once. */
  kill(): Promise<void>;
}

/** Bundles a Worker with the class `RunsObject` into a folder. Default: the one that is killed. */
export async function buildWorker(
  folder: string,
  entry: string = join(root, "tests", "agent", "runs", "kills", "worker.ts"),
  more: BuildOptions = {},
): Promise<void> {
  const { build } = await import("esbuild");
  await build({
    ...workerBuild,
    ...more,
    entryPoints: [entry],
    outfile: join(folder, "worker.mjs"),
    external: ["node:*"],
    alias: { "@std/assert": join(root, "tests", "support", "assert.ts") },
  });
  mkdirSync(join(folder, "objects"), { recursive: true });
}

/** Starts it over the folder's objects. */
export async function startWorkerd(
  folder: string,
  { ledger, point = "", nth = 1, secret = "" }: { ledger: string; point?: string; nth?: number; secret?: string },
): Promise<RunningWorkerd> {
  const config = join(folder, "config.capnp");
  writeFileSync(config, configOf(folder, { LEDGER: ledger, POINT: point, NTH: String(nth), SECRET: secret }));
  return await serveWorkerd(config);
}

/** Starts workerd with a config; its first socket is what is asked. */
export async function serveWorkerd(config: string): Promise<RunningWorkerd> {
  const child: ChildProcess = spawn(workerdPath(), ["serve", "--control-fd=3", config], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  let stand = (): void => {};
  const stands = new Promise<void>((resolve) => stand = resolve);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-8_000);
      if (output.includes("POINT ")) stand();
    });
  }
  const port = await new Promise<string>((resolve, reject) => {
    let told = "";
    child.stdio[3]?.on("data", (bytes: Uint8Array) => {
      told += new TextDecoder().decode(bytes);
      const found = /"port":(\d+)/.exec(told)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`workerd ended: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    stands,
    output: () => output,
    async kill() {
      const ended = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
      endProcess(child);
      await ended;
    },
  };
}

function configOf(folder: string, texts: Readonly<Record<string, string>>): string {
  const bindings = Object.entries(texts).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "main", esModule = embed "worker.mjs")],
      compatibilityDate = "2026-04-01",
      compatibilityFlags = ["nodejs_compat"],
      bindings = [(name = "RUNS", durableObjectNamespace = "RunsObject"), ${bindings.join(", ")}],
      durableObjectNamespaces = [(className = "RunsObject", uniqueKey = "runs", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = ${JSON.stringify(join(folder, "objects"))}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`;
}
