/** Where the sample is served in the tests: on loopback ports of this process, and as a program of this runtime. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createHandler } from "../../../src/server/mod.ts";
import type { McpServer } from "../../../src/server/mod.ts";
import { listen } from "../../conformance/host/listen.ts";
import type { Command } from "../peers.ts";
import { erasOf } from "./eras.ts";
import type { Served } from "./eras.ts";
import { createSample } from "./sample.ts";

/** A sample that listens. */
export interface Host {
  readonly url: string;
  readonly server: McpServer;
  /** Ends it, with what it still streams. */
  stop(): Promise<void>;
}

/** Serves a sample over HTTP on a free loopback port. */
export async function startHost(served: Served, server: McpServer = createSample()): Promise<Host> {
  const handler = createHandler(server, { eras: erasOf(served) });
  const { port, close } = await listen(handler, 0);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    server,
    stop: async () => {
      handler.close();
      await new Promise((resolve) => setTimeout(resolve, 20)); // the last messages of its streams are on their way
      await close();
    },
  };
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
