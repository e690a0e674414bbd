/**
 * `bun tools/run.ts check_docs`: the pages for people. Links, anchors and paths have to lead somewhere, and each block that
 * `deno test --doc` passes over (`ts ignore`) is checked under strict and run against what stands in for the network.
 */
import { parseArgs } from "node:util";
import { checkBlocks } from "./blocks.ts";
import { checkLinks } from "./links.ts";
import { checkPlainBlocks } from "./plain_blocks.ts";
import { type Page, readPages, readSources } from "./pages.ts";

/** Checks all pages, or those whose path has `--only` in it; says what is wrong, and how many blocks of which kind there are. */
export async function main(parameters: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...parameters], options: { only: { type: "string" } } });
  const all = readPages();
  const pages = all.filter(({ path }) => path.includes(values.only ?? ""));
  const sources = readSources().filter(({ path }) => path.includes(values.only ?? ""));
  const blocks = await checkBlocks([...pages, ...sources]);
  const problems = [...checkLinks(pages, all), ...checkPlainBlocks(pages), ...blocks.problems];
  for (const problem of problems) console.error(problem);
  const tested = (all: readonly Page[]): number =>
    count(all, ({ language, words }) => language === "ts" && !words.includes("ignore"));
  const sum = `${tested(pages)} of pages and ${tested(sources)} of sources`;
  console.log(
    `blocks of ts: ${sum} run by deno test --doc, ${blocks.run} run here, ${blocks.typesOnly} only type-checked`,
  );
  if (blocks.skipped > 0) console.log(`${blocks.skipped} skipped: the packages of bench/ are not installed`);
  const other = (language: string): string => `${count(pages, (block) => block.language === language)} ${language}`;
  console.log(
    `others: ${["console", "json", "jsonc", "sh", "toml", "text", ""].map(other).join(", ")} (without a name)`,
  );
  return problems.length === 0 ? 0 : 1;
}

function count(pages: readonly Page[], accept: (block: Page["blocks"][number]) => boolean): number {
  return pages.flatMap(({ blocks }) => blocks).filter(accept).length;
}
