/** Rule 3 of the floors: loading a module changes nothing and starts nothing, since Workers forbid it across requests. */
import ts from "typescript";
import { lineOf, type Problem, type Source, walk } from "./source.ts";

/** Objects that hold state or begin work; a Map or Set typed as read-only is a table and allowed. */
const statefulClasses = new Set([
  "Map",
  "Set",
  "WeakMap",
  "WeakSet",
  "WeakRef",
  "FinalizationRegistry",
  "AbortController",
  "Promise",
  "EventTarget",
  "WebSocket",
  "EventSource",
  "Worker",
  "BroadcastChannel",
  "MessageChannel",
  "ReadableStream",
  "WritableStream",
  "TransformStream",
  "Uint8Array",
]);
const activeCalls = new Set([
  "setTimeout",
  "setInterval",
  "queueMicrotask",
  "fetch",
  "AbortSignal.timeout",
  "AbortSignal.any",
  "Promise.resolve",
  "Promise.reject",
  "Promise.all",
  "Promise.withResolvers",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "Math.random",
  "Date.now",
  "performance.now",
]);

/** Finds mutable state and work at module level. The command line is a program of its own and may keep both. */
export function checkModuleState(source: Source): Problem[] {
  const { path, tree } = source;
  if ((!path.startsWith("src/") && path !== "mod.ts") || path.startsWith("src/cli/")) return [];
  const problems: Problem[] = [];
  const add = (node: ts.Node, message: string): void => {
    problems.push({
      file: path,
      line: lineOf(tree, node),
      rule: "module state",
      message: `${message} at module level`,
    });
  };
  walk(tree, (node) => {
    if (runsLater(node)) return false;
    const found = describeState(node, tree);
    if (found !== undefined) add(node, found);
    return true;
  });
  return problems;
}

/** True for what does not run while the module loads: bodies of functions, members of instances, types. */
function runsLater(node: ts.Node): boolean {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isPropertyDeclaration(node)) return !isStatic(node);
  if (ts.isFunctionExpression(node) || ts.isArrowFunction(node)) return !isCalledAtOnce(node);
  return ts.isFunctionLike(node) && !ts.isClassStaticBlockDeclaration(node);
}

function isCalledAtOnce(node: ts.Node): boolean {
  let callee = node;
  while (ts.isParenthesizedExpression(callee.parent)) callee = callee.parent;
  return ts.isCallExpression(callee.parent) && callee.parent.expression === callee;
}

function isStatic(node: ts.PropertyDeclaration): boolean {
  return node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword) ?? false;
}

function describeState(node: ts.Node, tree: ts.SourceFile): string | undefined {
  if (ts.isVariableDeclarationList(node) && (node.flags & ts.NodeFlags.BlockScoped) !== ts.NodeFlags.Const) {
    const using = (node.flags & ts.NodeFlags.Using) === ts.NodeFlags.Using;
    return using ? "a resource" : "a variable that can change";
  }
  if (ts.isPropertyDeclaration(node)) {
    const readonly = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ReadonlyKeyword) ?? false;
    return readonly ? undefined : "a static field that can change";
  }
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) return "an await";
  if (ts.isNewExpression(node)) return describeNew(node, tree);
  if (ts.isCallExpression(node)) {
    const callee = node.expression.getText(tree);
    return activeCalls.has(callee) ? `a call of ${callee}` : undefined;
  }
  const empty = (ts.isArrayLiteralExpression(node) && node.elements.length === 0) ||
    (ts.isObjectLiteralExpression(node) && node.properties.length === 0);
  return empty && ts.isVariableDeclaration(node.parent) ? "an empty container" : undefined;
}

function describeNew(node: ts.NewExpression, tree: ts.SourceFile): string | undefined {
  const name = node.expression.getText(tree);
  if (!statefulClasses.has(name)) return undefined;
  const { parent } = node;
  const declared = ts.isVariableDeclaration(parent) || ts.isPropertyDeclaration(parent) ? parent.type : undefined;
  const isTable = (name === "Map" || name === "Set") && declared !== undefined &&
    declared.getText(tree).startsWith(`Readonly${name}<`);
  return isTable ? undefined : `a new ${name}`;
}
