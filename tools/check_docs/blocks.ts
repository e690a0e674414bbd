/** Blocks marked `ts ignore`: written to files, checked under strict, and run with what stands in for the world. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { runProcess } from "../process.ts";
import { bunPath, denoPath, root, scriptCommand } from "../programs.ts";
import { makeTools } from "./made.ts";
import type { Block, Page } from "./pages.ts";

/** What came of the blocks. */
export interface BlocksReport {
  readonly problems: readonly string[];
  readonly run: number;
  readonly typesOnly: number;
  /** Those that import a package of the bench, where that is not installed. */
  readonly skipped: number;
}

/** A block as a file. */
interface Written {
  readonly place: string;
  readonly file: string;
  /** `types`, or the name of what stands in. */
  readonly use: string;
  /** Whether it imports `tools.ts`, which a command has made. */
  readonly wantsTools: boolean;
}

const cache = join(root, ".cache", "docs");
const config = join(cache, "tsconfig.json");
const standIns = join(root, "tools", "check_docs", "stand_ins");
/** What pages import that is no package of the repository's own: packages of the bench, and one that is here by another name. */
const packages: Readonly<Record<string, string>> = {
  "@modelcontextprotocol/client": "bench/node_modules/@modelcontextprotocol/client",
  "@ai-sdk/mcp": "bench/node_modules/@ai-sdk/mcp",
  "@ai-sdk/openai-compatible": "node_modules/ai-sdk-v4",
};
const words = /^(ignore|types|with=[a-z_]+|file=[a-z_]+\.ts|made=tools\.ts)$/;

/**
 * Checks and runs the blocks of `pages`. Behind `ts ignore` stand: `with=name` (a module of `stand_ins` runs the block),
 * `file=name.ts` (what other blocks of the page import it as), or `types` (it cannot run here, and is type-checked alone);
 * `made=tools.ts` says that it imports what `causeway types` writes.
 */
export async function checkBlocks(pages: readonly Page[]): Promise<BlocksReport> {
  const [deno, script] = [denoPath(), scriptCommand()];
  const nothing = { run: 0, typesOnly: 0, skipped: 0 };
  if (deno === undefined || script === undefined) return { ...nothing, problems: ["Deno is not installed"] };
  prepare();
  const problems: string[] = [];
  const ignored = pages.flatMap((page) => page.blocks.filter(isIgnored).map((block) => ({ page, block })));
  const usable = ignored.filter(({ block }) => !lacksPackage(block));
  const skipped = ignored.length - usable.length;
  const written = usable.flatMap(({ page, block }) => write(page, block, problems));
  if (written.length === 0) return { ...nothing, problems, skipped };
  for (const { place, file } of written.filter(({ wantsTools }) => wantsTools)) {
    const wrong = await makeTools(dirname(file), script);
    if (wrong !== undefined) problems.push(`${place} has no tools.ts\n${wrong}`);
  }
  const compiler = join(root, "node_modules", "typescript", "lib", "tsc.js");
  const checked = await runProcess([...script, compiler, "--pretty", "false", "-p", config], { timeout: 200_000 });
  if (checked.code !== 0) problems.push(inPages(checked.output, written));
  const runnable = written.filter(({ use }) => use !== "types");
  for (const block of runnable) problems.push(...await run(deno, block));
  return { problems, run: runnable.length, typesOnly: written.length - runnable.length, skipped };
}

/** An empty folder with packages, and the repository's own compiler options but for the types that only publishing needs. */
function prepare(): void {
  rmSync(cache, { recursive: true, force: true });
  for (const [name, folder] of Object.entries(packages)) {
    mkdirSync(dirname(join(cache, "node_modules", name)), { recursive: true });
    if (existsSync(join(root, folder))) symlinkSync(join(root, folder), join(cache, "node_modules", name), "junction");
  }
  const { exports }: { exports: Record<string, string> } = JSON.parse(readFileSync(join(root, "deno.json"), "utf8"));
  const paths = Object.entries(exports).map(([name, path]) => [`@causeway/mcp${name.slice(1)}`, [join(root, path)]]);
  const compilerOptions = { isolatedDeclarations: false, declaration: false, paths: Object.fromEntries(paths) };
  const made = {
    extends: join(root, "tsconfig.json"),
    compilerOptions,
    include: ["*/*.ts"],
    exclude: ["node_modules"],
  };
  writeFileSync(config, JSON.stringify(made, undefined, 2));
}

function isIgnored({ language, words }: Block): boolean {
  return language === "ts" && words.includes("ignore");
}

function lacksPackage({ text }: Block): boolean {
  return Object.keys(packages).some((name) =>
    text.includes(`"${name}"`) && !existsSync(join(cache, "node_modules", name))
  );
}

function write(page: Page, block: Block, problems: string[]): Written[] {
  const place = `${page.path}:${block.line}`;
  const value = (name: string): string | undefined =>
    block.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const use = block.words.includes("types") ? "types" : value("with") ?? (value("file") ? "nothing" : undefined);
  if (use === undefined || !block.words.every((word) => words.test(word))) {
    problems.push(`${place} is run by nothing: behind "ts ignore" with=…, file=… or types is expected`);
    return [];
  }
  if (use !== "types" && !existsSync(join(standIns, `${use}.ts`))) {
    problems.push(`${place} names ${use}, which is not in tools/check_docs/stand_ins`);
    return [];
  }
  const folder = join(cache, page.path.replace(/\W/g, "_"));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, value("file") ?? `line_${block.line}.ts`);
  // The port that a page names may be taken here.
  writeFileSync(file, block.text.replaceAll("port: 8080", "port: 0"));
  return [{ place, file, use, wantsTools: value("made") !== undefined }];
}

async function run(deno: string, { place, file, use }: Written): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-block-"));
  const flags = ["run", "-A", "--no-check", "--quiet", "--config", join(root, "deno.json")];
  const bun = readFileSync(file, "utf8").includes('"@causeway/mcp/bun"') ? bunPath() : undefined;
  const program = join(root, "tools", "check_docs", "run_block.ts");
  const command = [...(bun ? [bun] : [deno, ...flags]), program, use, file];
  const ended = await runProcess(command, { timeout: 60_000, cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  if (ended.code === 0) return [];
  const why = ended.timedOut ? "did not end within 60 s" : `ended with ${ended.code}`;
  return [`${place} ${why}\n${ended.output.trimEnd()}`];
}

/** What the compiler says of the files, said of the pages. */
function inPages(output: string, written: readonly Written[]): string {
  return written.reduce((text, { file, place }) => text.replaceAll(relative(root, file), place), output.trimEnd());
}
