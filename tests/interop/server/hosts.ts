/** Where the sample is served in the tests: on loopback ports of this process, in workerd, and as a program of this runtime. */
import type { Miniflare } from "miniflare";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { connect, serveHttp } from "../../../src/entry/local.ts";
import { createHandler, createSocketEndpoint } from "../../../src/server/mod.ts";
import { packagesInstalled } from "../../../tools/programs.ts";
import type { Command } from "../peers.ts";
import { erasOf } from "./eras.ts";
import type { Served } from "./eras.ts";
import { createSample } from "./sample.ts";

/** Why the sample cannot be served in workerd; false when it can. */
export const skipWorkerd: string | false = packagesInstalled() ? false : "miniflare and esbuild are not installed";

/** A sample that listens. */
export interface Host {
  readonly url: string;
  /** Ends it, with what it still streams. */
  stop(): Promise<void>;
}

/** How a sample is reached: over HTTP in this process or in workerd, over a WebSocket, or as a program. */
export type Binding = "HTTP" | "HTTP to workerd" | "WebSocket" | "stdio";

/** Serves a sample where a binding reaches it; undefined: it is a program, which the client starts. */
export async function startTarget(binding: Binding, served: Served): Promise<Host | undefined> {
  if (binding === "stdio") return undefined;
  if (binding === "HTTP to workerd") return await startWorker(served);
  const host = await startHost(served, binding === "WebSocket");
  return binding === "HTTP" ? host : { ...host, url: host.url.replace("http", "ws") };
}

/** Serves a sample over HTTP on a free loopback port, and over WebSockets where it is told so. */
export async function startHost(served: Served, sockets: boolean = false): Promise<Host> {
  const server = createSample();
  const eras = erasOf(served);
  const webSocket = sockets ? createSocketEndpoint(server, { eras, path: "/mcp" }) : undefined;
  const host = await serveHttp(createHandler(server, { eras }), { port: 0, webSocket });
  return { url: `${host.url}/mcp`, stop: () => host.close() };
}

/** Why this runtime serves no WebSockets, or has no client for them where one is wanted; false when it can. */
export async function whyNoSockets(client: boolean): Promise<string | false> {
  try {
    const host = await startHost("modern", true);
    try {
      if (client) await (await connect(host.url.replace("http", "ws"))).close();
    } finally {
      await host.stop();
    }
    return false;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

let worker: Promise<Miniflare> | undefined;
let samples = 0;

/** Serves a sample in workerd. One workerd serves them all, until `stopWorker`. */
async function startWorker(served: Served): Promise<Host> {
  const base = await (await (worker ??= openWorker())).ready;
  return { url: new URL(`/${served}/${++samples}`, base).href, stop: () => Promise.resolve() };
}

/** Ends the workerd of `startTarget`, where there is one. */
export async function stopWorker(): Promise<void> {
  const open = worker;
  worker = undefined;
  await (await open)?.dispose();
}

async function openWorker(): Promise<Miniflare> {
  const { Miniflare } = await import("miniflare");
  return new Miniflare({
    compatibilityDate: "2026-05-03",
    compatibilityFlags: ["enable_request_signal"],
    durableObjects: { SAMPLE: "Sample" },
    // It tells of each client that leaves in the middle, as some tests have it.
    handleRuntimeStdio: (output: Readable, errors: Readable) => {
      output.resume();
      errors.resume();
    },
    modules: [{ type: "ESModule", path: "sample.js", contents: await bundleWorker() }],
  });
}

async function bundleWorker(): Promise<string> {
  const { build } = await import("esbuild");
  const entryPoints = [fileURLToPath(new URL("workerd/sample_worker.ts", import.meta.url))];
  const built = await build({ entryPoints, bundle: true, format: "esm", target: "es2022", write: false });
  const contents = built.outputFiles[0]?.text ?? "";
  if (/["'](?:node|bun|cloudflare):/.test(contents)) throw new Error("The sample's Worker holds a module of a runtime");
  return contents;
}

/** Makes the commands of the sample as a program. Node 20 cannot strip types: there it is bundled first. */
export function createProgram(): (served: Served) => Command {
  const file = join(process.cwd(), "tests/interop/server/stdio_program.ts");
  if ("Bun" in globalThis) return (served) => ({ command: process.execPath, args: [file, served] });
  if ("Deno" in globalThis) {
    return (served) => ({ command: process.execPath, args: ["run", "-A", "--no-check", "--quiet", file, served] });
  }
  const folder = mkdtempSync(join(tmpdir(), "causeway-sample-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const bundle = join(folder, "program.mjs");
  const flags = ["--bundle", "--platform=node", "--format=esm", "--target=node20", "--log-level=error"];
  const esbuild = join(process.cwd(), "node_modules/.bin/esbuild");
  const { status, stderr } = spawnSync(esbuild, [file, ...flags, `--outfile=${bundle}`]);
  if (status !== 0) throw new Error(`esbuild: ${stderr}`);
  return (served) => ({ command: process.execPath, args: [bundle, served] });
}
