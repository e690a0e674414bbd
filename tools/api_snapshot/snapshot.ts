/** What entries give, as text: one declaration after the other, without documentation, in the order of names. */
import { posix } from "node:path";
import ts from "typescript";
import { declarationOf } from "../publish/manifest.ts";

/** What is described. */
export interface Entries {
  /** The package's name. */
  readonly name: string;
  /** The sources by their subpaths. */
  readonly entries: Readonly<Record<string, string>>;
  /** The declarations by their paths; they import each other by the names of modules (`.js`). */
  readonly declarations: ReadonlyMap<string, string>;
}

const base = "/package/";

/**
 * Describes each entry. What an entry before it gives under the same name is named and not written again.
 *
 * @returns The pages by their file names.
 */
export function describeEntries({ name, entries, declarations }: Entries): Map<string, string> {
  const program = readProgram(declarations);
  const checker = program.getTypeChecker();
  const seen = new Map<ts.Symbol, Map<string, string>>();
  const pages = new Map<string, string>();
  for (const [subpath, source] of Object.entries(entries)) {
    const file = program.getSourceFile(posix.join(base, declarationOf(source)));
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new TypeError(`The entry ${subpath} (${source}) has no declarations`);
    const entry = name + subpath.slice(1);
    const blocks = checker.getExportsOfModule(module).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const places = seen.get(symbol) ?? new Map<string, string>();
      seen.set(symbol, places);
      const before = places.get(exported.name);
      if (before === undefined) places.set(exported.name, entry);
      return [
        exported.name,
        before === undefined ? describe(exported.name, symbol) : `${exported.name}: as in ${before}`,
      ];
    });
    const sorted = blocks.sort(([left = ""], [right = ""]) => left < right ? -1 : 1).map(([, block]) => block);
    pages.set(
      `${subpath === "." ? "mod" : subpath.slice(2).replaceAll("/", "_")}.txt`,
      `${[entry, ...sorted].join("\n\n")}\n`,
    );
  }
  return pages;
}

/** Says which declarations differ between two pages; empty: none. */
export function describeChanges(before: string, after: string): string[] {
  const [left, right] = [readBlocks(before), readBlocks(after)];
  return [
    ...[...right].filter(([label]) => !left.has(label)).map(([label]) => `new: ${label}`),
    ...[...left].filter(([label]) => !right.has(label)).map(([label]) => `gone: ${label}`),
    ...[...right].filter(([label, block]) => left.has(label) && left.get(label) !== block).map(([label, block]) =>
      `changed: ${label}${firstDifference(left.get(label) ?? "", block)}`
    ),
  ];
}

function readProgram(declarations: ReadonlyMap<string, string>): ts.Program {
  const texts = new Map([...declarations].map(([path, text]) => [posix.join(base, path), text]));
  const host: ts.CompilerHost = {
    fileExists: (path) => texts.has(path),
    readFile: (path) => texts.get(path),
    getSourceFile(path, version) {
      const text = texts.get(path);
      return text === undefined ? undefined : ts.createSourceFile(path, text, version, true);
    },
    getDefaultLibFileName: () => "lib.d.ts",
    getCurrentDirectory: () => base,
    getCanonicalFileName: (path) => path,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    writeFile() {},
  };
  return ts.createProgram([...texts.keys()], {
    noLib: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  }, host);
}

/** All declarations of one name: a type and a value may share it. */
function describe(name: string, symbol: ts.Symbol): string {
  const nodes = symbol.declarations ?? [];
  if (nodes.length === 0) throw new TypeError(`${name} is declared nowhere`);
  const printer = ts.createPrinter({ removeComments: true });
  const texts = nodes.map((node) => {
    const whole = ts.isVariableDeclaration(node) ? node.parent.parent : node;
    const { transformed: [shown = whole] } = ts.transform(whole, [withoutInternals]);
    const text = printer.printNode(ts.EmitHint.Unspecified, shown, whole.getSourceFile());
    return text.replace(/^export /, "").replace(/^declare /, "");
  });
  return `${name}:\n${texts.join("\n")}`;
}

/** Leaves out what is marked as internal, and the mark that a class has private fields. */
const withoutInternals: ts.TransformerFactory<ts.Node> = (context) => (node) =>
  ts.visitEachChild(node, (child) => isInternal(child) ? undefined : child, context);

function isInternal(node: ts.Node): boolean {
  if (!ts.isClassElement(node) && !ts.isTypeElement(node)) return false;
  return (node.name !== undefined && ts.isPrivateIdentifier(node.name)) ||
    ts.getJSDocTags(node).some(({ tagName }) => tagName.text === "internal");
}

function readBlocks(page: string): Map<string, string> {
  const blocks = page.trimEnd().split("\n\n").filter((block) => block !== "");
  return new Map(blocks.map((block) => [/^[^:\n]*/.exec(block)?.[0] ?? "", block]));
}

/** The first line of each that the other has not. */
function firstDifference(before: string, after: string): string {
  const [left, right] = [before.split("\n"), after.split("\n")];
  const gone = left.find((line) => !right.includes(line));
  const come = right.find((line) => !left.includes(line));
  return [gone && `\n    - ${gone.trim()}`, come && `\n    + ${come.trim()}`].filter(Boolean).join("");
}
