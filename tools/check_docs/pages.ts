/** Pages of Markdown as the checks want them: prose, headings and fenced blocks. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../programs.ts";

/** One fenced block. */
export interface Block {
  /** The line of its first fence, from 1. */
  readonly line: number;
  /** The first word behind the fence; empty when there is none. */
  readonly language: string;
  /** The words after it. */
  readonly words: readonly string[];
  readonly text: string;
}

/** One page. */
export interface Page {
  /** From the repository's root, with slashes. */
  readonly path: string;
  /** Its lines; those of blocks are empty. */
  readonly prose: readonly string[];
  /** What a link may name behind `#`. */
  readonly anchors: ReadonlySet<string>;
  readonly blocks: readonly Block[];
}

/** All pages for people: those of the root, of `docs`, and `README.md` of the parts. */
export function readPages(): Page[] {
  const inRoot = readdirSync(root).filter((name) => name.endsWith(".md"));
  const guides = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`);
  return [...inRoot, ...guides, "bench/README.md", "examples/README.md"].sort().map(readPage);
}

/** The sources, with what is said in their comments, for the examples in it. */
export function readSources(): Page[] {
  return readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".ts") && !path.includes("/page/"))
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      // Of each line what stands behind the star; code outside of comments is no line at all.
      const said = text.split("\n").map((line) => / \*(?: (.*)|$)/.exec(line)?.[1] ?? "");
      return parsePage(path, said.join("\n"));
    })
    .filter(({ blocks }) => blocks.length > 0);
}

/** The pages of which `deno test --doc` runs blocks; a changelog has none. */
export function pagesWithExamples(): string[] {
  return readPages().filter(({ blocks }) => blocks.some(({ language }) => language === "ts")).map(({ path }) => path);
}

/** Takes a page apart. */
export function parsePage(path: string, text: string): Page {
  const prose: string[] = [];
  const blocks: Block[] = [];
  let open: { line: number; info: string; lines: string[] } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    prose.push(open || line.startsWith("```") ? "" : line);
    if (!line.startsWith("```")) open?.lines.push(line);
    else if (open === undefined) open = { line: index + 1, info: line.slice(3).trim(), lines: [] };
    else {
      const [language = "", ...words] = open.info.split(/[\s,]+/);
      blocks.push({ line: open.line, language, words, text: `${open.lines.join("\n")}\n` });
      open = undefined;
    }
  }
  if (open) throw new Error(`${path}:${open.line} a block does not end`);
  return { path, prose, blocks, anchors: anchorsOf(prose) };
}

function readPage(path: string): Page {
  return parsePage(path, readFileSync(join(root, path), "utf8"));
}

/** The names that headings get: lower case, without punctuation, with dashes for blanks, numbered when they come again. */
function anchorsOf(prose: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const [, heading] = /^#{1,6}\s+(.+?)\s*#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const name = text.replace(/[^\p{L}\p{N}\s_-]/gu, "").replace(/\s/g, "-");
    let unique = name;
    for (let again = 1; anchors.has(unique); again++) unique = `${name}-${again}`;
    anchors.add(unique);
  }
  return anchors;
}
