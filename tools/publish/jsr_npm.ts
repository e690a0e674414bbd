/**
 * The form in which JSR gives a package to npm: each source as it was published, beside it its module with types taken out and
 * nothing lowered, and the declarations in `_dist`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { buildModules, renameSource } from "./build.ts";
import { declarationOf, type Manifest, moduleOf } from "./manifest.ts";
import { writeArchive } from "./tar.ts";

/** What it is made of. */
export interface JsrPackage {
  /** The files as JSR was given them. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The declarations by their paths, as npm's own package has them. */
  readonly declarations: ReadonlyMap<string, string>;
  /** An empty folder to build in. */
  readonly folder: string;
}

/**
 * Makes the archive of `@jsr/scope__name`. The declarations are those of the other package: both come from the same sources.
 */
export async function jsrNpmArchive({ files, declarations, folder }: JsrPackage): Promise<Uint8Array> {
  const sources = [...files.keys()].filter((path) => path.endsWith(".ts"));
  const dependencies: Record<string, string> = {};
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
    if (path.endsWith(".ts")) Object.assign(dependencies, packagesOf(new TextDecoder().decode(bytes)));
  }
  const rename = (specifier: string): string => packageOf(specifier)?.specifier ?? renameSource(specifier);
  const modules = await buildModules({ folder, sources, target: "esnext", rename });
  const manifest: Manifest = JSON.parse(new TextDecoder().decode(files.get("deno.json")));
  const packageJson = {
    name: `@jsr/${manifest.name.slice(1).replace("/", "__")}`,
    version: manifest.version,
    type: "module",
    dependencies,
    exports: Object.fromEntries(
      Object.entries(manifest.exports).map(([subpath, source]) => [subpath, {
        types: declarationOf(source).replace(/^\.\//, "./_dist/"),
        default: moduleOf(source),
      }]),
    ),
  };
  const made = new Map<string, string>([
    ...modules,
    ...[...declarations].map(([path, text]) => [`_dist/${path}`, text] as const),
    ["package.json", JSON.stringify(packageJson)],
  ]);
  const encoder = new TextEncoder();
  return writeArchive(new Map([...files, ...[...made].map(([path, text]) => [path, encoder.encode(text)] as const)]));
}

/** What a published source takes from npm, by name. */
function packagesOf(text: string): Record<string, string> {
  const found = ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => packageOf(fileName));
  return Object.fromEntries(found.flatMap((named) => named === undefined ? [] : [[named.name, named.version]]));
}

/** `npm:@scope/name@^1.2.3/path` taken apart; undefined for what names no package. */
function packageOf(specifier: string): { name: string; version: string; specifier: string } | undefined {
  const [, name, version = "*", path = ""] = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@([^/]+))?(\/.+)?$/.exec(specifier) ??
    [];
  return name === undefined ? undefined : { name, version, specifier: name + path };
}
