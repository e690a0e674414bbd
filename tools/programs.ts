/** Where the repository and the programs that the tools start are found. Only `node:` imports: it runs before any install. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** The repository's root folder, without a slash at its end. */
export const root: string = fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "");

/** What the tools tell every child: no telemetry, no calls home, no colours in what is parsed. */
export const quietEnvironment: Readonly<Record<string, string>> = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_COLOR: "1",
  DENO_NO_UPDATE_CHECK: "1",
};

/** The path of Bun: this process when it is one, else the first on PATH; undefined when there is none. */
export function bunPath(): string | undefined {
  return "bun" in process.versions ? process.execPath : onPath("bun");
}

/** The path of Deno: the pinned package in node_modules, else this process, else the first on PATH. */
export function denoPath(): string | undefined {
  const system = { linux: "linux", darwin: "darwin", win32: "win32" }[process.platform as string] ?? "none";
  const library = system === "linux" ? "-glibc" : "";
  const file = system === "win32" ? "deno.exe" : "deno";
  const packaged = join(root, "node_modules", "@deno", `${system}-${process.arch}${library}`, file);
  if (existsSync(packaged)) return packaged;
  return "deno" in process.versions ? process.execPath : onPath("deno");
}

/** The path of Node: the first on PATH that is not a stand-in which Bun or Deno put there; undefined when there is none. */
export function nodePath(): string | undefined {
  if (!("bun" in process.versions) && !("deno" in process.versions)) return process.execPath;
  return onPath("node", (folder) => !/bun-node|deno-node/.test(folder));
}

/** The path of npm, or of another program that comes with it; undefined when there is none. */
export function npmPath(name: "npm" | "npx" = "npm"): string | undefined {
  return onPath(name);
}

/** The path of workerd itself, as Miniflare brings it along. */
export function workerdPath(): string {
  const system = { linux: "linux", darwin: "darwin", win32: "windows" }[process.platform as string] ?? "none";
  const kind = process.arch === "arm64" ? "arm64" : "64";
  const file = system === "windows" ? "workerd.exe" : "workerd";
  return join(root, "node_modules", "@cloudflare", `workerd-${system}-${kind}`, "bin", file);
}

/** The first way to run a TypeScript program unbuilt, as an argument vector without the program: Bun, else Deno. */
export function scriptCommand(): readonly string[] | undefined {
  const bun = bunPath();
  if (bun !== undefined) return [bun];
  const deno = denoPath();
  return deno === undefined ? undefined : [deno, "run", "-A", "--no-check"];
}

/** True when the packages of `package.json` are installed. */
export function packagesInstalled(): boolean {
  return existsSync(join(root, "node_modules", "esbuild", "package.json"));
}

function onPath(name: string, accept: (folder: string) => boolean = () => true): string | undefined {
  const endings = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    if (folder === "" || !accept(folder)) continue;
    for (const ending of endings) {
      const candidate = join(folder, name + ending);
      if (existsSync(candidate)) return candidate;
    }
  }
  return undefined;
}
