/**
 * Rule 2 of the floors, and the end of rule 4: runtimes are named in few places, and code is never made from text. And
 * what one of them does wrong is left to the one function that knows better.
 */
import ts from "typescript";
import { areaOf, isTop } from "./imports.ts";
import { lineOf, type Problem, type Source, walk } from "./source.ts";

const runtimeNames = ["Deno", "Bun", "process", "Buffer"];
const globalObjects = ["globalThis", "self", "window", "global"];

/**
 * Finds names of runtimes outside of their places and in what the clean entries reach, and `eval`, `Function` and
 * `URL.canParse` anywhere in `src`.
 */
export function checkGlobals(source: Source, clean: ReadonlySet<string>): Problem[] {
  const { path, tree } = source;
  if (!path.startsWith("src/") && path !== "mod.ts") return [];
  const area = areaOf(path) ?? "";
  const mayNameRuntimes = (area === "src/runtime" || isTop(area)) && !clean.has(path);
  const problems: Problem[] = [];
  walk(tree, (node) => {
    if (ts.isPropertyAccessExpression(node) && node.name.text === "canParse") {
      const message = '"canParse" is wrong in Node 20 once it is compiled: take "readUrl" of src/egress/url.ts';
      problems.push({ file: path, line: lineOf(tree, node), rule: "url", message });
    }
    const name = globalName(node);
    if (name === undefined) return;
    const line = lineOf(tree, node);
    if (runtimeNames.includes(name) && !mayNameRuntimes) {
      problems.push({
        file: path,
        line,
        rule: "runtime",
        message: `"${name}" is named outside of its places`,
      });
    }
    if (name === "eval" || (name === "Function" && makesCode(node))) {
      problems.push({ file: path, line, rule: "eval", message: `"${name}" makes code from text` });
    }
  });
  return problems;
}

/** The global that a node names: a free identifier, `globalThis.name`, `globalThis["name"]` or `"name" in globalThis`. */
function globalName(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return isOwnName(node) ? undefined : node.text;
  if (ts.isPropertyAccessExpression(node) && isGlobalObject(node.expression)) return node.name.text;
  if (!ts.isStringLiteralLike(node)) return undefined;
  const { parent } = node;
  const isKey = ts.isElementAccessExpression(parent) && isGlobalObject(parent.expression);
  const isAsked = ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.InKeyword &&
    isGlobalObject(parent.right);
  const isReflected = ts.isCallExpression(parent) && parent.arguments[1] === node &&
    parent.arguments[0] !== undefined &&
    isGlobalObject(parent.arguments[0]);
  return isKey || isAsked || isReflected ? node.text : undefined;
}

/** True where an identifier only labels something: a property, a member, a key, an imported name before `as`. */
function isOwnName(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name === node;
  if (ts.isQualifiedName(parent)) return parent.right === node;
  if (ts.isBindingElement(parent)) return parent.propertyName === node;
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) return parent.propertyName === node;
  if (ts.isPropertyAssignment(parent) || ts.isEnumMember(parent)) return parent.name === node;
  return ts.isPropertySignature(parent) || ts.isMethodSignature(parent) || ts.isNamedTupleMember(parent) ||
    ((ts.isMethodDeclaration(parent) || ts.isPropertyDeclaration(parent) || ts.isAccessor(parent)) &&
      parent.name === node);
}

function isGlobalObject(node: ts.Node): boolean {
  const bare = ts.isAsExpression(node) || ts.isParenthesizedExpression(node) ? node.expression : node;
  return ts.isIdentifier(bare) && globalObjects.includes(bare.text);
}

/** `Function` as a type, or after `instanceof`, is harmless; called or constructed it compiles text. */
function makesCode(node: ts.Node): boolean {
  const { parent } = node;
  const callee = ts.isPropertyAccessExpression(parent) && parent.name === node ? parent : node;
  return (ts.isNewExpression(callee.parent) || ts.isCallExpression(callee.parent)) &&
    callee.parent.expression === callee;
}
