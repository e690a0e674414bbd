/** Blocks that are no program: their language has to be one that something looks at, and JSON has to be JSON. */
import type { Block, Page } from "./pages.ts";

const known: ReadonlySet<string> = new Set(["ts", "console", "json", "jsonc", "sh", "toml", "text", ""]);

/** What is wrong with the blocks of `pages` that are not TypeScript, one line each. */
export function checkPlainBlocks(pages: readonly Page[]): string[] {
  return pages.flatMap(({ path, blocks }) =>
    blocks.map(problemOf).flatMap((problem, index) =>
      problem === undefined ? [] : [`${path}:${blocks[index]?.line} ${problem}`]
    )
  );
}

function problemOf({ language, text }: Block): string | undefined {
  if (!known.has(language)) return `has a block of ${language}: expected one of ${[...known].join(" ")}`;
  if (language !== "json") return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return `has a block that is no JSON: ${error instanceof Error ? error.message : error}`;
  }
}
