/** The package as npm gets it: a tree of modules and declarations, and a manifest of its own. */
import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readSources } from "../floors/source.ts";
import { root } from "../programs.ts";
import { buildDeclarations, buildModules, renameSource } from "./build.ts";
import { moduleOf, pages, publishedManifest, readDenoManifest, readNpmManifest } from "./manifest.ts";

/**
 * Builds the package into a folder, which is emptied first.
 *
 * @returns Its files, relative to the folder, in order.
 */
export async function buildPackage(folder: string, repository?: string): Promise<string[]> {
  const sources = publishedSources();
  const plan = { folder: root, sources, target: "node20", rename: renameSource };
  const files = new Map([...await buildModules(plan), ...buildDeclarations(plan)]);
  for (const source of Object.values(readNpmManifest().bin)) {
    const path = moduleOf(source).replace(/^\.\//, "");
    files.set(path, asProgram(files.get(path) ?? ""));
  }
  files.set("package.json", `${JSON.stringify(publishedManifest(repository), null, 2)}\n`);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    if (text.startsWith("#!")) chmodSync(join(folder, path), 0o755);
  }
  for (const page of pages) copyFileSync(join(root, page), join(folder, page));
  return [...files.keys(), ...pages].sort();
}

/** The sources that the exports reach, in order. */
export function publishedSources(): string[] {
  const sources = new Map(readSources(root, ["mod.ts", "src"]).map((source) => [source.path, source]));
  const reached = new Set(Object.values(readDenoManifest().exports).map((path) => path.replace(/^\.\//, "")));
  for (const path of reached) for (const { file } of sources.get(path)?.imports ?? []) if (file) reached.add(file);
  return [...reached].sort();
}

/** In the package the command is JavaScript: it runs on Node, and on Bun where that is in Node's place. */
function asProgram(text: string): string {
  return `#!/usr/bin/env node\n${text.replace(/^#!.*\n/, "")}`;
}
