/** Blocks marked `ts ignore`: written to files, checked under strict, and run with what stands in for the world. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runProcess } from "../process.ts";
import { denoPath, root } from "../programs.ts";
import type { Block, Page } from "./pages.ts";

/** What came of the blocks. */
export interface BlocksReport {
  readonly problems: readonly string[];
  readonly run: number;
  readonly typesOnly: number;
}

/** A block as a file. */
interface Written {
  readonly place: string;
  readonly file: string;
  /** `types`, or the name of what stands in. */
  readonly use: string;
}

const cache = join(root, ".cache", "docs");
const config = join(cache, "deno.json");
/** What pages import that is no package of the repository's own: packages of the bench, and one that is here by another name. */
const packages: Readonly<Record<string, string>> = {
  "@modelcontextprotocol/client": "bench/node_modules/@modelcontextprotocol/client",
  "@ai-sdk/mcp": "bench/node_modules/@ai-sdk/mcp",
  "@ai-sdk/openai-compatible": "node_modules/ai-sdk-v4",
  "@types/node": "node_modules/@types/node",
};
const words = /^(ignore|types|with=[a-z_]+|file=[a-z_]+\.ts)$/;

/**
 * Checks and runs the blocks of `pages`. Behind `ts ignore` stand: `with=name` (a module of `stand_ins` runs the block),
 * `file=name.ts` (what other blocks of the page import it as), or `types` (it cannot run here, and is type-checked alone).
 */
export async function checkBlocks(pages: readonly Page[]): Promise<BlocksReport> {
  const deno = denoPath();
  if (deno === undefined) return { problems: ["Deno is needed, and is not installed"], run: 0, typesOnly: 0 };
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  for (const [name, folder] of Object.entries(packages)) {
    mkdirSync(dirname(join(cache, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, folder), join(cache, "node_modules", name));
  }
  writeConfig();
  const problems: string[] = [];
  const written = pages.flatMap((page) =>
    page.blocks.filter(isIgnored).flatMap((block) => write(page, block, problems))
  );
  if (written.length === 0) return { problems, run: 0, typesOnly: 0 };
  // Types of Node are there for programs that import something of it: so they are for all that are checked together.
  const types = join(cache, "types.ts");
  writeFileSync(types, 'import "node:process";\n');
  const files = [types, ...written.map(({ file }) => file)];
  const checked = await runProcess([deno, "check", "--quiet", "--config", config, ...files], { timeout: 200_000 });
  if (checked.code !== 0) problems.push(inPages(checked.output, written));
  const runnable = written.filter(({ use }) => use !== "types");
  for (const block of runnable) problems.push(...await run(deno, block));
  return { problems, run: runnable.length, typesOnly: written.length - runnable.length };
}

/** As the repository's own, but for the explicit types that only what is published needs. */
function writeConfig(): void {
  const own: { exports: Record<string, string>; compilerOptions: object } = JSON.parse(
    readFileSync(join(root, "deno.json"), "utf8"),
  );
  const imports = Object.entries(own.exports).map((
    [name, path],
  ) => [`@causeway/mcp${name.slice(1)}`, join(root, path)]);
  const compilerOptions = { ...own.compilerOptions, isolatedDeclarations: false };
  const made = { imports: Object.fromEntries(imports), nodeModulesDir: "manual", lock: false, compilerOptions };
  writeFileSync(config, JSON.stringify(made, undefined, 2));
}

function isIgnored({ language, words }: Block): boolean {
  return language === "ts" && words.includes("ignore");
}

function write(page: Page, block: Block, problems: string[]): Written[] {
  const place = `${page.path}:${block.line}`;
  const unknown = block.words.find((word) => !words.test(word));
  const value = (name: string): string | undefined =>
    block.words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const use = block.words.includes("types") ? "types" : value("with") ?? (value("file") ? "nothing" : undefined);
  if (unknown !== undefined || use === undefined) {
    problems.push(`${place} is run by nothing: behind "ts ignore" with=…, file=… or types is expected`);
    return [];
  }
  if (use !== "types" && !existsSync(join(import.meta.dirname, "stand_ins", `${use}.ts`))) {
    problems.push(`${place} names ${use}, which is not in tools/check_docs/stand_ins`);
    return [];
  }
  const folder = join(cache, page.path.replace(/\W/g, "_"));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, value("file") ?? `line_${block.line}.ts`);
  // A block is a module, whether it imports something or not; and the port that a page names may be taken here.
  const text = block.text.replaceAll("port: 8080", "port: 0");
  writeFileSync(file, /^(import|export) /m.test(text) ? text : `${text}export {};\n`);
  return [{ place, file, use }];
}

async function run(deno: string, { place, file, use }: Written): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "causeway-block-"));
  const flags = ["run", "-A", "--no-check", "--quiet", "--config", config];
  const program = join(import.meta.dirname, "run_block.ts");
  const ended = await runProcess([deno, ...flags, program, use, file], { timeout: 60_000, cwd: folder });
  rmSync(folder, { recursive: true, force: true });
  if (ended.code === 0) return [];
  const why = ended.timedOut ? "did not end within 60 s" : `ended with ${ended.code}`;
  return [`${place} ${why}\n${ended.output.trimEnd()}`];
}

/** What the type checker says of the files, said of the pages. */
function inPages(output: string, written: readonly Written[]): string {
  return written.reduce((text, { file, place }) => text.replaceAll(`file://${file}`, `${place} +`), output.trimEnd());
}
