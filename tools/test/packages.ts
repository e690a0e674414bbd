/** Which tests need npm packages: with only Deno on the machine those are named as skipped, and the others run. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { root } from "../programs.ts";

const importPattern = /^(?:(?:import|export|\})[^"'\n]*\bfrom\s*|import\s*|.*\bimport\(\s*)["']([^"'\n]+)["']/gm;

/**
 * The first npm package that a file or what it imports asks for; undefined when there is none. Reads by pattern, since
 * a parser would be a package too: a false find skips one test on a machine without packages, and nowhere else.
 */
export function neededPackage(file: string, seen: Set<string> = new Set()): string | undefined {
  if (seen.has(file) || !existsSync(join(root, file))) return undefined;
  seen.add(file);
  const text = readFileSync(join(root, file), "utf8");
  for (const [statement, specifier = ""] of text.matchAll(importPattern)) {
    if (/^(import|export) type\b/.test(statement) || /^(node:|@std\/assert$)/.test(specifier)) continue;
    if (!specifier.startsWith(".")) return specifier;
    const found = neededPackage(posix.join(dirname(file), specifier), seen);
    if (found !== undefined) return found;
  }
  return undefined;
}
