/** Bundles one program for each client and runtime: the same step for all, and the only way for Node, which strips no types. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { BuildOptions, Plugin } from "esbuild";
import { workerBuild } from "../tools/build/worker.ts";
import type { Runtime } from "./clients/client.ts";

/** The clients of the bench: the floor, ours, the official one, the AI SDK's. */
export type ClientName = "floor" | "ours" | "sdk" | "ai";

/** What an import of a library costs is measured on these. */
export type LibraryName = "./client" | "mod.ts" | "sdk" | "ai";

const here = fileURLToPath(new URL(".", import.meta.url));
const sdk = "@modelcontextprotocol/client";
const ai = "@ai-sdk/mcp";

const libraries: Readonly<Record<LibraryName, string>> = {
  "./client": `export { connect } from "../src/client/mod.ts";`,
  "mod.ts": `export { connect } from "../mod.ts";`,
  sdk: `export { Client, StreamableHTTPClientTransport } from "${sdk}";`,
  ai: `export { createMCPClient } from "${ai}";`,
};

/** How a bundler builds for a Worker or a page. */
export const forWorkers: BuildOptions = { ...workerBuild, minify: true, banner: {} };

/** The size of a text in bytes, gzipped. */
export function gzipped(text: string): number {
  return gzipSync(text, { level: 9 }).byteLength;
}

/** Builds the program of one client for one runtime and answers its path. */
export async function buildProgram(client: ClientName, runtime: Runtime, folder: string): Promise<string> {
  const name = `${runtime}_${client}`;
  await build(
    `import { createClient } from "./clients/${client}.ts";
     import { runCell } from "./run_cell.ts";
     await runCell(createClient);`,
    {
      outdir: join(folder, name),
      entryNames: "main",
      outExtension: { ".js": ".mjs" },
      splitting: true,
      target: runtime === "node" ? "node20" : "esnext",
      plugins: [entryOf(runtime)],
      define: {
        SDK_PACKAGE: JSON.stringify(sdk),
        SDK_STDIO_PACKAGE: JSON.stringify(`${sdk}/stdio`),
        AI_PACKAGE: JSON.stringify(ai),
        AI_STDIO_PACKAGE: JSON.stringify(`${ai}/mcp-stdio`),
      },
    },
  );
  return join(folder, name, "main.mjs");
}

/** Builds one library as a Worker or a page would get it; answers its path and its size minified and gzipped. */
export async function buildLibrary(library: LibraryName, folder: string): Promise<{ path: string; bytes: number }> {
  const path = join(folder, `import_${library.replace(/^\.\/|\.ts$/g, "")}.mjs`);
  const text = await build(libraries[library], {
    ...forWorkers,
    outfile: path,
    target: "es2022",
  });
  return { path, bytes: gzipped(text) };
}

/** Builds a Worker with a client in it and answers its path; the floor's is empty. */
export async function buildWorker(client: ClientName, folder: string): Promise<string> {
  const uses: Readonly<Partial<Record<ClientName, readonly [string, string]>>> = {
    ours: [`import { connect } from "../src/client/mod.ts";`, `connect(request.url)`],
    sdk: [
      `import { Client, StreamableHTTPClientTransport } from "${sdk}";`,
      `new Client({ name: "a", version: "1" }).connect(new StreamableHTTPClientTransport(new URL(request.url)))`,
    ],
  };
  const [imports, use] = uses[client] ?? ["", "undefined"];
  const outfile = join(folder, `worker_${client}.mjs`);
  await build(
    `${imports}
     export default {
       async fetch(request) {
         if (request.method === "POST") await ${use};
         return new Response("ok");
       },
     };`,
    { ...forWorkers, outfile },
  );
  return outfile;
}

/** Builds the server and answers its path. */
export async function buildServer(folder: string): Promise<string> {
  const outfile = join(folder, "server.mjs");
  await build(`import "./server.ts";`, { outfile, target: "esnext" });
  return outfile;
}

/** Bundles a program that imports as a file of this folder would; answers its text. */
export async function build(contents: string, options: BuildOptions): Promise<string> {
  const { build: run } = await import("esbuild");
  const result = await run({
    stdin: {
      contents,
      resolveDir: here,
      sourcefile: "stdin.ts",
      loader: "ts",
    },
    bundle: true,
    format: "esm",
    platform: "node",
    logLevel: "warning",
    metafile: true,
    // Packages in the older module format ask for `require`.
    banner: {
      js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`,
    },
    ...options,
  });
  return result.outputFiles?.[0]?.text ?? (await textOf(result.metafile?.outputs ?? {}));
}

async function textOf(outputs: Readonly<Record<string, unknown>>): Promise<string> {
  const { readFile } = await import("node:fs/promises");
  const [path] = Object.keys(outputs);
  return path === undefined ? "" : await readFile(path, "utf8");
}

/** `./local` loads the runtime's entry with the first call; here it is named at once, as a program for one runtime would. */
function entryOf(runtime: Runtime): Plugin {
  return {
    name: "entry",
    setup(build) {
      build.onResolve({ filter: /\/src\/entry\/local\.ts$/ }, ({ resolveDir, path }) => ({
        path: join(resolveDir, path.replace(/local\.ts$/, `${runtime}.ts`)),
      }));
    },
  };
}
