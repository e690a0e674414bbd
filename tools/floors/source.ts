/** The sources that the floor check reads, parsed: their syntax trees and what they import. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import ts from "typescript";

/** Something that breaks a rule of the house. */
export interface Problem {
  /** The file, relative to the checked root. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** The rule, in a word or two. */
  readonly rule: string;
  readonly message: string;
}

/** One import, export-from, dynamic import or import type. */
export interface Import {
  /** As written. */
  readonly specifier: string;
  /** The file it names, relative to the root; undefined when it names no file of the house. */
  readonly file: string | undefined;
  readonly line: number;
  /** True for a dynamic import of what is only known when it runs. */
  readonly isComputed?: true;
}

/** One parsed file. */
export interface Source {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
  readonly imports: readonly Import[];
}

/** Parses the `.ts` files of the folders and files that are given; what does not exist is left out. */
export function readSources(root: string, entries: readonly string[]): Source[] {
  const sources: Source[] = [];
  for (const path of entries.flatMap((entry) => listFiles(root, entry))) {
    if (!/\.[cm]?[jt]s$/.test(path)) continue;
    const text = readFileSync(join(root, path), "utf8");
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    sources.push({ path, text, tree, imports: readImports(path, tree) });
  }
  return sources;
}

/** The files of a folder and its subfolders, or the file itself, relative to the root and in order. */
export function listFiles(root: string, entry: string): string[] {
  if (!existsSync(join(root, entry))) return [];
  if (/\.\w+$/.test(entry)) return [entry];
  return readdirSync(join(root, entry), { recursive: true, withFileTypes: true })
    .filter((found) => found.isFile())
    .map((found) => join(found.parentPath, found.name).slice(root.length + 1).replaceAll("\\", "/"))
    .filter((path) => !path.includes("node_modules/"))
    .sort();
}

/** The line of a node, counted from 1. */
export function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

/** Calls `visit` for a node and all below it; a visit that answers false keeps the walk out of that node. */
export function walk(node: ts.Node, visit: (node: ts.Node) => boolean | void): void {
  if (visit(node) !== false) ts.forEachChild(node, (child) => walk(child, visit));
}

function readImports(path: string, tree: ts.SourceFile): Import[] {
  const imports: Import[] = [];
  walk(tree, (node) => {
    const named = specifierOf(node);
    if (named === undefined) return;
    const specifier = ts.isStringLiteralLike(named) ? named.text : named.getText(tree);
    const known = ts.isStringLiteralLike(named) && /^\.{1,2}\//.test(specifier);
    const file = known ? posix.join(dirname(path), specifier) : undefined;
    const isText = ts.isStringLiteralLike(named);
    imports.push({ specifier, file, line: lineOf(tree, node), ...(!isText && { isComputed: true as const }) });
  });
  return imports;
}

function specifierOf(node: ts.Node): ts.Node | undefined {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) return node.argument.literal;
  if (ts.isExternalModuleReference(node)) return node.expression;
  const isImport = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  return isImport ? node.arguments[0] : undefined;
}
