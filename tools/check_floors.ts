/** `bun tools/run.ts check_floors`: proves rules 1 to 4 of the floors (docs/ARCHITECTURE.md) and the shape of the files. */
import { checkGlobals } from "./floors/globals.ts";
import { checkImports, cleanFiles } from "./floors/imports.ts";
import { checkModuleState } from "./floors/module_state.ts";
import { checkFolders, checkShape } from "./floors/shape.ts";
import { type Problem, readSources } from "./floors/source.ts";
import { root } from "./programs.ts";

const checked = ["mod.ts", "src", "workers", "examples", "tests", "bench", "tools"];

/** Every problem below a root, in the order of files and lines. */
export function checkFloors(folder: string): { problems: Problem[]; files: number } {
  const sources = readSources(folder, checked);
  const clean = cleanFiles(sources);
  const problems = [
    ...checkImports(sources),
    ...sources.flatMap((source) => checkGlobals(source, clean)),
    ...sources.flatMap(checkModuleState),
    ...sources.flatMap(checkShape),
    ...checkFolders(sources),
  ];
  problems.sort((left, right) => left.file.localeCompare(right.file) || left.line - right.line);
  return { problems, files: sources.length };
}

/** Prints each problem and how many there are; 1 when there is one. */
export function main(parameters: readonly string[]): Promise<number> {
  const { problems, files } = checkFloors(parameters[0] ?? root);
  for (const { file, line, rule, message } of problems) console.log(`${file}:${line}: ${rule}: ${message}`);
  console.log(`${files} files checked, ${problems.length} problems`);
  return Promise.resolve(problems.length === 0 && files > 0 ? 0 : 1);
}
