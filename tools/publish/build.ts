/** Sources to ES modules and declarations, file by file: a package keeps the tree of its sources. */
import { join } from "node:path";
import type { Plugin } from "esbuild";
import ts from "typescript";
import { declarationOf, moduleOf } from "./manifest.ts";

/** What is built, and for whom. */
export interface BuildPlan {
  /** The folder that the sources are in. */
  readonly folder: string;
  /** The sources, relative to it, with slashes. */
  readonly sources: readonly string[];
  /** The oldest that has to understand the modules, in esbuild's words. */
  readonly target: string;
  /** What an import is called in the result. */
  readonly rename: (specifier: string) => string;
}

/** A relative import of a source becomes one of its module; all others stay. */
export function renameSource(specifier: string): string {
  return /^\.{1,2}\//.test(specifier) ? moduleOf(specifier) : specifier;
}

/** The modules by their paths: types are gone, what the target does not know (`using`) is lowered. */
export async function buildModules({ folder, sources, target, rename }: BuildPlan): Promise<Map<string, string>> {
  const { build } = await import("esbuild");
  // Every import is external, so that each source stays a module of its own, under the name that it has in the package.
  const keepApart: Plugin = {
    name: "keep apart",
    setup({ onResolve }) {
      onResolve(
        { filter: /.*/ },
        ({ kind, path }) => kind === "entry-point" ? undefined : { path: rename(path), external: true },
      );
    },
  };
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [...sources],
    outbase: ".",
    outdir: ".",
    write: false,
    bundle: true,
    format: "esm",
    platform: "neutral",
    target,
    charset: "utf8",
    treeShaking: false,
    plugins: [keepApart],
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: "silent",
  });
  const prefix = join(folder, "/");
  const files = outputFiles.map(({ path, text }) => [path.slice(prefix.length).replaceAll("\\", "/"), text] as const);
  return new Map(files);
}

/**
 * The declarations by their paths, with their documentation. Types are not checked here: each declaration follows from its
 * source alone (isolatedDeclarations), and `bun run check` has checked that.
 *
 * @throws {TypeError} When a source leaves a type to be inferred.
 */
export function buildDeclarations(
  { folder, sources, rename }: Pick<BuildPlan, "folder" | "sources" | "rename">,
): Map<string, string> {
  const program = ts.createProgram(sources.map((source) => join(folder, source)), {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    rootDir: folder,
    // With the types of the language: without them `[Symbol.asyncDispose]` would become an index signature.
    lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
    types: [],
    noCheck: true,
    noEmitOnError: false,
    allowImportingTsExtensions: true,
    declaration: true,
    emitDeclarationOnly: true,
    isolatedDeclarations: true,
    verbatimModuleSyntax: true,
    strict: true,
    exactOptionalPropertyTypes: true,
  });
  const declarations = new Map<string, string>();
  const prefix = `${folder.replaceAll("\\", "/")}/`;
  const { diagnostics } = program.emit(undefined, (path, text) => {
    declarations.set(path.slice(prefix.length), renameImports(text, rename));
  });
  const [first] = diagnostics;
  if (first !== undefined) {
    throw new TypeError(`${first.file?.fileName}: ${ts.flattenDiagnosticMessageText(first.messageText, " ")}`);
  }
  return new Map(sources.map((source) => {
    const path = declarationOf(source);
    const text = declarations.get(path);
    if (text === undefined) throw new TypeError(`${source} has no declarations`);
    return [path, text];
  }));
}

/** Renames what declarations import, in their import types too. */
function renameImports(text: string, rename: (specifier: string) => string): string {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  let renamed = "";
  let at = 0;
  for (const { fileName, pos, end } of importedFiles) {
    // The range holds the name, and its quotes or not, by how it was found.
    const from = text.indexOf(fileName, pos);
    if (from < at || from > end) throw new TypeError(`Cannot find the import of ${JSON.stringify(fileName)} again`);
    renamed += text.slice(at, from) + rename(fileName);
    at = from + fileName.length;
  }
  return renamed + text.slice(at);
}
