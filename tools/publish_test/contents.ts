/** What is in the packages, and what is not: exact lists, no code from text, no module of a runtime where none may be. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../programs.ts";
import { workerBuild } from "../build/worker.ts";
import { declarationOf, moduleOf, pages, readDenoManifest } from "../publish/manifest.ts";
import { assertSame } from "./checks.ts";

/** What the bundle of an entry may hold beside the package's own modules. Default: nothing. */
interface Allowed {
  readonly packages?: readonly string[];
  readonly modules?: readonly string[];
}

/** The entries for Workers and pages. */
const edge: Readonly<Record<string, Allowed>> = {
  ".": {},
  "./protocol": {},
  "./transport": {},
  "./client": {},
  "./auth": { packages: ["oauth4webapi"] },
  "./server": {},
  "./gateway": {},
  "./hub": {},
  "./agent": {},
  "./runner": { packages: ["hono"] },
  "./otel": { packages: ["@opentelemetry/api"] },
  "./workers": {},
  "./browser": {},
};
/** The entries for runtimes that have processes. */
const local: readonly string[] = ["./bun", "./deno", "./node", "./local", "./cli"];

/** Code that is made from text. */
const codeFromText: readonly RegExp[] = [/\beval\s*\(/, /\bnew\s+Function\b/, /\bFunction\s*\(\s*["'`]/];

/** Types that have got parameters with TypeScript 5.6 and 5.7. */
const newerTypes = /\bUint8Array<|\bAsyncIterable<[^<>,]+,/;

/** Compares the files that npm packs with the sources that the exports reach. */
export function judgeNpmFiles(files: readonly string[], sources: readonly string[]): string {
  const built = sources.flatMap((source) => [moduleOf(source), declarationOf(source)]);
  assertSame("files", files, ["package.json", ...pages, ...built]);
  return `${files.length} files`;
}

/** Compares the files that JSR was given with the sources that the exports reach. */
export function judgeJsrFiles(files: readonly string[], sources: readonly string[]): string {
  assertSame("files", files, ["deno.json", ...pages, ...sources]);
  return `${files.length} files`;
}

/** Looks for code from text in every module of the package. */
export function judgeModules(folder: string, files: readonly string[]): string {
  const modules = files.filter((file) => file.endsWith(".js"));
  const found = modules.flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return codeFromText.filter((pattern) => pattern.test(text)).map((pattern) => `${file}: ${pattern.source}`);
  });
  if (found.length > 0) throw new Error(found.join("\n"));
  return `${modules.length} modules`;
}

/**
 * Looks for what TypeScript 5.4 does not know in all declarations that the entries reach: it would be an error for those who check
 * the declarations of packages, and `any` for all others.
 *
 * @param entries The declarations of the entries.
 */
export function judgeDeclarations(folder: string, entries: readonly string[]): string {
  const reached = new Set(entries.map((entry) => join(folder, entry)));
  const found: string[] = [];
  for (const path of reached) {
    const text = readFileSync(path, "utf8").replaceAll(/\/\*.*?\*\//gs, "");
    for (const [, module = ""] of text.matchAll(/(?:\bfrom |\bimport\()"(\.[^"]+)\.js"/g)) {
      reached.add(join(dirname(path), `${module}.d.ts`));
    }
    const lines = text.split("\n").filter((line) => newerTypes.test(line));
    found.push(...lines.map((line) => `${path.slice(folder.length + 1)}: ${line.trim()}`));
  }
  if (found.length > 0) throw new Error(found.join("\n"));
  return `${reached.size} declarations`;
}

/**
 * Bundles each entry for Workers and pages from the installed package, as Wrangler does, and looks at what came along.
 *
 * @param project The project that has the package and its peers installed.
 */
export async function judgeEdge(project: string): Promise<string> {
  const { name, exports } = readDenoManifest();
  assertSame("entries that are judged", [...Object.keys(edge), ...local], Object.keys(exports));
  const { build } = await import("esbuild");
  const problems: string[] = [];
  for (const [subpath, { packages = [], modules = [] }] of Object.entries(edge)) {
    const { metafile, outputFiles } = await build({
      ...workerBuild,
      absWorkingDir: project,
      stdin: { contents: `export * from ${JSON.stringify(name + subpath.slice(1))};`, resolveDir: project },
      external: ["node:*", "bun:*", "cloudflare:*", "child_process"],
      metafile: true,
      write: false,
    });
    const inputs = Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
    const foreign = new Set(inputs.filter((found) => found !== undefined && found !== name));
    const outer = new Set(Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path)));
    for (const found of foreign) {
      if (found !== undefined && !packages.includes(found)) problems.push(`${subpath} holds the package ${found}`);
    }
    for (const found of outer) if (!modules.includes(found)) problems.push(`${subpath} imports ${found}`);
    const text = outputFiles[0]?.text ?? "";
    for (const pattern of [...codeFromText, /child_process/]) {
      if (pattern.test(text)) problems.push(`${subpath} holds ${pattern.source}`);
    }
    if (text === "") problems.push(`${subpath} is empty`);
  }
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return `${Object.keys(edge).length} entries`;
}

/** The names that each export gives, by the sources. */
export async function namesOfSources(): Promise<Record<string, string[]>> {
  const names: Record<string, string[]> = {};
  for (const [subpath, source] of Object.entries(readDenoManifest().exports)) {
    names[subpath] = Object.keys(await import(join(root, source)));
  }
  return names;
}
