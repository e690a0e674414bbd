/** A workerd with one of the Workers of the bench, and the MCP server behind it. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { endProcess, startProcess } from "../../tools/process.ts";
import { build, forWorkers } from "../build.ts";
import { buildServing } from "../serving/programs.ts";

/** The Workers: a bare Hono proxy; it in an object; the runner in an object of the tenant; the whole Worker as it is deployed. */
export type BenchWorker = "proxy" | "pass" | "object" | "worker";

/** The one API key that is good. */
export const apiKey: string = `causeway_${"5e".repeat(32)}`;

/** A process that serves. */
export interface Served extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
}

/** Starts the MCP server behind: one tool that does nothing, `noop`, on Bun. */
export async function startUpstream(bun: string, folder: string): Promise<Served> {
  const child = startProcess([bun, await buildServing("ours", folder), "http"], { input: true });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.setEncoding("utf8").once("data", (text: string) => resolve(Number(text)));
    child.once("exit", (code) => reject(new Error(`The server behind ended with exit code ${code}`)));
  });
  return {
    port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      await ended(child);
    },
  };
}

/** Bundles a Worker and starts it. */
export async function startBenchWorker(
  name: BenchWorker,
  { workerd, folder, upstream, inspector }: {
    readonly workerd: string;
    readonly folder: string;
    readonly upstream: string;
    /** A port for a profiler. */
    readonly inspector?: number | undefined;
  },
): Promise<Served> {
  const path = await buildBenchWorker(name, folder);
  const objects = join(folder, `objects_${name}`);
  rmSync(objects, { recursive: true, force: true });
  mkdirSync(objects, { recursive: true });
  const config = `${path}.capnp`;
  writeFileSync(config, configOf(name, { path, upstream, objects }));
  const flags = inspector === undefined ? [] : [`--inspector-addr=127.0.0.1:${inspector}`];
  const child = spawn(workerd, ["serve", "--control-fd=3", ...flags, config], {
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    detached: true,
  });
  process.once("exit", () => endProcess(child));
  let complaint = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => complaint = (complaint + text).slice(-4_000));
  const port = await new Promise<number>((resolve, reject) => {
    let told = "";
    child.stdio[3]?.on("data", (bytes: Uint8Array) => {
      told += new TextDecoder().decode(bytes);
      const found = /"socket":"http","port":(\d+)/.exec(told)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once("exit", () => reject(new Error(`workerd ended: ${complaint}`)));
  });
  return {
    port,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      await ended(child);
      rmSync(objects, { recursive: true, force: true });
    },
  };
}

/** Bundles a Worker; answers its path. */
export async function buildBenchWorker(name: BenchWorker, folder: string): Promise<string> {
  const outfile = join(folder, `runner_${name}.mjs`);
  await build(`export * from "./runner/workers/${name}.ts"; export { default } from "./runner/workers/${name}.ts";`, {
    ...forWorkers,
    outfile,
    target: "es2022",
    minify: process.env["CAUSEWAY_BENCH_PLAIN"] === undefined,
    external: ["node:*", "cloudflare:*"],
  });
  return outfile;
}

/** The resident memory of a process in MiB; undefined where the system does not tell. */
export function residentOf(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1_024;
  } catch {
    return undefined;
  }
}

async function ended(child: ReturnType<typeof spawn>): Promise<void> {
  const exit = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined;
  endProcess(child);
  await exit;
}

function configOf(
  name: BenchWorker,
  { path, upstream, objects }: { readonly path: string; readonly upstream: string; readonly objects: string },
): string {
  const hash = createHash("sha256").update(apiKey).digest("hex");
  const inObject = name !== "proxy";
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "main", esModule = embed ${JSON.stringify(basename(path))})],
      compatibilityDate = "2026-04-01",
      compatibilityFlags = ["enable_request_signal", "request_signal_passthrough", "nodejs_compat"],
      bindings = [
        (name = "UPSTREAM", text = ${JSON.stringify(upstream)}),
        (name = "KEY_HASH", text = "${hash}"),
        ${inObject ? `(name = "TENANTS", durableObjectNamespace = "TenantObject"),` : ""}
      ],
      ${
    inObject
      ? `durableObjectNamespaces = [(className = "TenantObject", uniqueKey = "tenants", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),`
      : ""
  }
      globalOutbound = "loopback",
    )),
    (name = "loopback", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = ${JSON.stringify(objects)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`;
}
