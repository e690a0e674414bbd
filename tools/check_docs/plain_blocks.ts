/** Blocks that are no program: JSON has to be JSON, and commands of the repository have to be there. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../programs.ts";
import type { Block, Page } from "./pages.ts";

/** What something looks at: `console` is run by tests/cli/verbs/docs_local_test.ts; `text` and nothing are no code. */
const known: ReadonlySet<string> = new Set(["ts", "console", "json", "jsonc", "sh", "toml", "text", ""]);

/** What is wrong with the blocks of `pages` that are not TypeScript, and with commands in their prose, one line each. */
export function checkPlainBlocks(pages: readonly Page[]): string[] {
  const names = readNames();
  return pages.flatMap(({ path, blocks, prose }) => [
    ...blocks.flatMap((block) => problemsOf(block, names).map((problem) => `${path}:${block.line} ${problem}`)),
    ...prose.flatMap((line, index) => commandsOf(line, names).map((problem) => `${path}:${index + 1} ${problem}`)),
  ]);
}

function problemsOf({ language, text }: Block, names: Names): string[] {
  if (!known.has(language)) return [`has a block of ${language}: expected one of ${[...known].join(" ")}`];
  if (language === "sh") return text.split("\n").flatMap((line) => commandsOf(line, names));
  if (language !== "json") return [];
  try {
    JSON.parse(text);
    return [];
  } catch (error) {
    return [`has a block that is no JSON: ${error instanceof Error ? error.message : error}`];
  }
}

/** What is wrong with the commands of this repository in a text: scripts, tasks, tools, and configs of Wrangler. */
function commandsOf(text: string, { scripts, tasks }: Names): string[] {
  const isTool = (name: string): boolean =>
    existsSync(join(root, "tools", `${name}.ts`)) || existsSync(join(root, "tools", name, "main.ts"));
  const wrong = (pattern: RegExp, isThere: (name: string) => boolean): string[] =>
    [...text.matchAll(pattern)].filter(([, name = ""]) => !isThere(name)).map(([command]) =>
      `names "${command}", which is not there`
    );
  return [
    ...wrong(/\bbun(?:@[\d.]+)? run ([a-z-]+)/g, (name) => scripts[name] !== undefined),
    ...wrong(/\bdeno task ([a-z-]+)/g, (name) => tasks[name] !== undefined),
    ...wrong(/\btools\/run\.ts ([a-z_]+)/g, isTool),
    ...wrong(/--config ((?:workers|examples)\/\S+\.toml)/g, (file) => existsSync(join(root, file))),
  ];
}

/** The commands that there are, by name. */
interface Names {
  readonly scripts: Readonly<Record<string, string>>;
  readonly tasks: Readonly<Record<string, string>>;
}

function readNames(): Names {
  const read = (file: string): Partial<Names> => JSON.parse(readFileSync(join(root, file), "utf8"));
  return { scripts: read("package.json").scripts ?? {}, tasks: read("deno.json").tasks ?? {} };
}
