/** How files and folders look: lengths, names, and how many files share a folder. */
import { dirname } from "node:path";
import ts from "typescript";
import { lineOf, type Problem, type Source, walk } from "./source.ts";

const mostLines = 400;
const mostLinesOfTypes = 700;
const mostLinesOfFunction = 60;
const mostFiles = 14;

/** Checks the length and the name of each file, and the length of each function outside of tests. */
export function checkShape(source: Source): Problem[] {
  const { path, text } = source;
  const problems: Problem[] = [];
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const most = path.endsWith("types.ts") ? mostLinesOfTypes : mostLines;
  if (lines > most) {
    problems.push(problem(path, lines, "length", `the file has ${lines} lines, at most ${most} are allowed`));
  }
  if (!/^[a-z0-9_/]+(\.d)?\.(ts|mjs)$/.test(path)) {
    problems.push(problem(path, 1, "names", "files and folders are named in snake_case"));
  }
  const isTest = path.endsWith("_test.ts");
  if (isTest && !path.startsWith("tests/")) problems.push(problem(path, 1, "names", "tests live below tests/"));
  if (!isTest && path.startsWith("tests/") && importsNodeTest(source)) {
    const kept = ["tests/suites/", "tests/support/"].some((folder) => path.startsWith(folder));
    if (!kept) problems.push(problem(path, 1, "names", "a file with tests ends in _test.ts"));
  }
  problems.push(
    ...path.startsWith("tests/") ? skippedSuites(source) : [...longFunctions(source), ...hiddenAwaits(source)],
  );
  return problems;
}

/** Checks how many files lie in each folder. */
export function checkFolders(sources: readonly Source[]): Problem[] {
  const counts = new Map<string, number>();
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > mostFiles)
    .map(([folder, count]) =>
      problem(folder, 1, "folders", `the folder has ${count} files, at most ${mostFiles} are allowed`)
    );
}

function longFunctions({ path, tree }: Source): Problem[] {
  const problems: Problem[] = [];
  walk(tree, (node) => {
    if (!ts.isFunctionLike(node) || !("body" in node) || node.body === undefined) return;
    const first = lineOf(tree, node);
    const lines = tree.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - first;
    if (lines <= mostLinesOfFunction) return;
    const name = node.name?.getText(tree) ?? "a function";
    problems.push(
      problem(path, first, "length", `${name} has ${lines} lines, at most ${mostLinesOfFunction} are allowed`),
    );
  });
  return problems;
}

/** Where private methods are lowered, SWC makes a function of that very name of it: no module may have one called `await`. */
function hiddenAwaits({ path, tree }: Source): Problem[] {
  const problems: Problem[] = [];
  walk(tree, (node) => {
    if (!ts.isMethodDeclaration(node) || node.name.getText(tree) !== "#await") return;
    problems.push(
      problem(path, lineOf(tree, node), "names", "#await has another name: SWC makes a syntax error of it"),
    );
  });
  return problems;
}

/** Bun leaves a skipped suite out of its report without a word, so that its tests would not be counted. */
function skippedSuites({ path, tree }: Source): Problem[] {
  const problems: Problem[] = [];
  walk(tree, (node) => {
    if (!ts.isCallExpression(node) || !/^(describe|suite)\b/.test(node.expression.getText(tree))) return;
    const options = node.arguments.find(ts.isObjectLiteralExpression);
    const skips = options?.properties.some((property) => property.name?.getText(tree) === "skip") ?? false;
    if (!skips && !node.expression.getText(tree).endsWith(".skip")) return;
    problems.push(problem(path, lineOf(tree, node), "skips", "skip the tests, not the suite: Bun does not report it"));
  });
  return problems;
}

function importsNodeTest({ imports }: Source): boolean {
  return imports.some(({ specifier }) => specifier === "node:test");
}

function problem(file: string, line: number, rule: string, message: string): Problem {
  return { file, line, rule, message };
}
