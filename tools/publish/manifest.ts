/**
 * What the two registries are told. `deno.json` holds the one list of exports; `package.json` of the repository has the same
 * for who links a clone, and the published one is made from it here.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../programs.ts";

/** What `deno.json` and `package.json` of the repository have in common. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The sources behind the exports, by their subpaths. */
  readonly exports: Readonly<Record<string, string>>;
}

/** The repository's `package.json`. */
export interface NpmManifest extends Manifest {
  readonly description: string;
  readonly private: boolean;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** What a package brings along. */
interface Wanting {
  readonly dependencies: Record<string, string>;
  readonly peerDependencies: Record<string, string>;
  readonly peerDependenciesMeta: Record<string, { readonly optional: true }>;
}

/** The files that stand beside the modules in each package. */
export const pages: readonly string[] = ["CHANGELOG.md", "LICENSE", "README.md"];

/**
 * Packages that only one entry needs, and that the application of who uses that entry has already, or chooses: they must be the very
 * same copy there (`@opentelemetry/api` keeps its providers in one place; a Hono application is mounted in another), or are
 * not needed by most (`ws`: WebSockets on Node). Their absence is told where they are missed. What
 * is not named here is a plain dependency: `oauth4webapi`, which `./auth` needs, and `commander`, which the command `causeway` needs.
 */
const optionalPeers: ReadonlySet<string> = new Set(["@opentelemetry/api", "hono", "ws"]);

/** Reads `deno.json`: the list. */
export function readDenoManifest(): Manifest {
  return JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
}

/** Reads `package.json` of the repository. */
export function readNpmManifest(): NpmManifest {
  return JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
}

/**
 * The `package.json` that npm gets.
 *
 * @param repository `owner/name` on GitHub, which the provenance has to agree with. Default: none is named.
 */
export function publishedManifest(repository?: string): Record<string, unknown> {
  const { name, version, license, exports } = readDenoManifest();
  const { description, bin, dependencies } = readNpmManifest();
  const entries = Object.entries(exports).map(([subpath, source]) =>
    [subpath, { types: declarationOf(source), default: moduleOf(source) }] as const
  );
  const programs = Object.entries(bin).map(([command, source]) =>
    [command, moduleOf(source).replace(/^\.\//, "")] as const
  );
  return {
    name,
    version,
    description,
    license,
    keywords: ["mcp", "model-context-protocol", "agents", "tools", "workers", "deno", "bun"],
    ...(repository !== undefined && {
      repository: { type: "git", url: `git+https://github.com/${repository}.git` },
      homepage: `https://github.com/${repository}#readme`,
      bugs: `https://github.com/${repository}/issues`,
    }),
    type: "module",
    engines: { node: ">=20.4" },
    bin: Object.fromEntries(programs),
    sideEffects: programs.map(([, path]) => `./${path}`),
    exports: Object.fromEntries(entries),
    // TypeScript's older way of resolving (`node`, `node10`) reads no `exports`; bundlers' templates still have it.
    types: declarationOf(exports["."] ?? ""),
    typesVersions: { "*": Object.fromEntries(typesOf(exports)) },
    ...wanting(dependencies),
  };
}

/** Each subpath without its "./", and its declarations. */
function typesOf(exports: Manifest["exports"]): (readonly [string, readonly string[]])[] {
  return Object.entries(exports).filter(([subpath]) => subpath !== ".").map(([subpath, source]) =>
    [subpath.slice("./".length), [declarationOf(source)]] as const
  );
}

/** The compiled module of a source. */
export function moduleOf(source: string): string {
  return source.replace(/\.ts$/, ".js");
}

/** The declarations of a source. */
export function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}

function wanting(pinned: Readonly<Record<string, string>>): Wanting {
  const all = Object.entries(pinned);
  const peers = all.filter(([name]) => optionalPeers.has(name));
  return {
    dependencies: Object.fromEntries(all.filter(([name]) => !optionalPeers.has(name))),
    peerDependencies: Object.fromEntries(peers.map(([name, version]) => [name, `^${version}`])),
    peerDependenciesMeta: Object.fromEntries(peers.map(([name]) => [name, { optional: true }])),
  };
}
