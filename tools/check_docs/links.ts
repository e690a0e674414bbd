/** Links and paths of pages that lead nowhere. */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { root } from "../programs.ts";
import type { Page } from "./pages.ts";

/** What is wrong with the links of `pages`, one line each; `all` are the pages that may be linked to. */
export function checkLinks(pages: readonly Page[], all: readonly Page[]): string[] {
  const byPath = new Map(all.map((page) => [page.path, page]));
  return pages.flatMap((page) =>
    page.prose.flatMap((line, index) => {
      const place = `${page.path}:${index + 1}`;
      const links = targetsOf(line).map((target) => linkProblem(page, target, byPath));
      const paths = page.path === "CHANGELOG.md" ? [] : pathsOf(line).map(pathProblem);
      return [...links, ...paths].filter((problem) => problem !== undefined).map((problem) => `${place} ${problem}`);
    })
  );
}

/** Addresses of the links in a line: `[text](address)`, not within code. */
function targetsOf(line: string): string[] {
  const text = line.replace(/(`+).*?\1/g, (code) => "x".repeat(code.length));
  return [...text.matchAll(/\]\(\s*<?([^)\s>]+)[^)]*\)/g)].map(([, target = ""]) => target);
}

function linkProblem(page: Page, target: string, pages: ReadonlyMap<string, Page>): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [file = "", anchor] = target.split("#");
  const path = file === "" ? page.path : posix.normalize(posix.join(posix.dirname(page.path), file));
  if (path.startsWith("..") || !existsSync(join(root, path))) return `links to ${target}, and there is no ${path}`;
  if (anchor === undefined) return undefined;
  const linked = pages.get(path);
  if (linked === undefined) return `links to ${target}, and ${path} has no headings`;
  return linked.anchors.has(anchor) ? undefined : `links to ${target}, and ${path} has no heading of that name`;
}

/** Paths of the repository that stand in code, whole: `src/client/mod.ts`. */
function pathsOf(line: string): string[] {
  return [...line.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)
    .filter((code) => /^(src|tests|tools|workers|examples|docs|bench)\/[\w./-]+$/.test(code));
}

function pathProblem(path: string): string | undefined {
  const isThere = [path, `${path}.ts`].some((name) => existsSync(join(root, name)));
  return isThere ? undefined : `names ${path}, which is not there`;
}
