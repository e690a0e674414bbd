/**
 * Compiled code, kept between starts: a server is up again in four fifths of the time, and so is this command. Node and Bun do
 * it by themselves once they are told where (`NODE_COMPILE_CACHE`, since Node 22.1 and Bun 1.4), and write it down when a
 * program ends by itself. Deno does it unasked.
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import process from "node:process";

/** What has to be known of this process. */
interface Surroundings {
  /** As Node names it. */
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The programs that keep code, and those that run them and pass their own variables on. */
const keepers = new Set(["node", "npx", "npm", "pnpm", "pnpx", "yarn", "tsx", "bun", "bunx"]);

/**
 * The folder for the code of a server; undefined for what keeps none, where a person has no folder, and where Node's own
 * `NODE_DISABLE_COMPILE_CACHE` says so. Nothing is made or read.
 */
export function compiledFolder(command: string, args: readonly string[], here: Surroundings): string | undefined {
  const program = command.replace(/^.*[\\/]/, "").replace(/\.(exe|cmd)$/i, "");
  if (!keepers.has(program)) return undefined;
  // What it runs, so that each server has a folder of its own, whatever else it is told. Words may be secrets: none is written down.
  const script = args.find((word) => !word.startsWith("-")) ?? "";
  return folderOf(`${program}-${fingerprint(script)}`, here);
}

/** Eight hexadecimal digits that tell texts apart (FNV-1a). */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/** Keeps the code of this command itself, from here on. */
export async function keepOwnCode(): Promise<void> {
  const folder = "Deno" in globalThis ? undefined : folderOf("causeway", process);
  if (folder === undefined) return;
  // Older versions have none.
  const { enableCompileCache }: { enableCompileCache?: (folder: string) => unknown } = await import("node:module");
  if (!enableCompileCache) return;
  makeOwnFolder(folder);
  enableCompileCache(folder);
}

/** Makes a folder that only the person can look into: who writes compiled code makes it for everyone else. */
export function makeOwnFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // Then no code is kept.
  }
}

function folderOf(name: string, { platform, env }: Surroundings): string | undefined {
  const slash = platform === "win32" ? "\\" : "/";
  try {
    const caches = platform === "win32" ? env.LOCALAPPDATA : userCaches(env);
    const base = env.CAUSEWAY_HOME || (caches && `${caches}${slash}causeway`);
    // No folder can be made below /proc, and Node never stops trying.
    if (env.NODE_DISABLE_COMPILE_CACHE || !base || base.startsWith("/proc/")) return undefined;
    return [base, "compiled", name].join(slash);
  } catch {
    // Deno gives no variable that --allow-env does not name.
    return undefined;
  }
}

function userCaches({ XDG_CACHE_HOME = "", HOME }: Surroundings["env"]): string | undefined {
  // Relative ones are to be ignored (XDG Base Directory Specification).
  return XDG_CACHE_HOME.startsWith("/") ? XDG_CACHE_HOME : HOME && `${HOME}/.cache`;
}
