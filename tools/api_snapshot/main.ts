/**
 * `bun tools/run.ts api_snapshot`: the API of each entry, as its declarations tell it, against `docs/api`: a change of it has to be meant.
 * `--write` writes it down anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../programs.ts";
import { buildDeclarations, renameSource } from "../publish/build.ts";
import { readDenoManifest } from "../publish/manifest.ts";
import { publishedSources } from "../publish/package.ts";
import { describeChanges, describeEntries } from "./snapshot.ts";

const folder = join(root, "docs", "api");

/** Prints what differs; 1 when something does. */
export function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { write: { type: "boolean", default: false } } });
  const { name, exports } = readDenoManifest();
  const declarations = buildDeclarations({ folder: root, sources: publishedSources(), rename: renameSource });
  const pages = describeEntries({ name, entries: exports, declarations });
  const known = existsSync(folder) ? readdirSync(folder) : [];
  if (values.write) {
    mkdirSync(folder, { recursive: true });
    for (const file of known) if (!pages.has(file)) rmSync(join(folder, file));
    for (const [file, text] of pages) writeFileSync(join(folder, file), text);
    console.log(`${pages.size} entries written to docs/api`);
    return Promise.resolve(0);
  }
  const problems = known.filter((file) => !pages.has(file)).map((file) => `docs/api/${file}: there is no such entry`);
  for (const [file, text] of pages) {
    const before = known.includes(file) ? readFileSync(join(folder, file), "utf8") : "";
    problems.push(...describeChanges(before, text).map((change) => `docs/api/${file}: ${change}`));
  }
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) {
    console.log(
      "The API has changed: when that is meant, `bun tools/run.ts api_snapshot --write` writes it down, and CHANGELOG.md",
    );
    console.log("tells of it");
  }
  return Promise.resolve(problems.length === 0 ? 0 : 1);
}
