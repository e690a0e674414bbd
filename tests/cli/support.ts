/** Runs the command `causeway` as a user would, in the runtime of the test. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { assertEquals } from "@std/assert";

/** What a run of the command gave. */
export interface Run {
  /** The exit code; null when a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** How to run the command. */
export interface RunOptions {
  /** What is written to its standard input, which then ends. */
  readonly input?: string;
  /** The standard input stays open: `started` ends it. */
  readonly keepsInput?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Told of the process as soon as it runs. */
  readonly started?: (child: ChildProcess) => void;
}

const longest = 20_000;
/** The tests run from the repository's root, also where they were bundled to somewhere else. */
const root = process.cwd();
const programs = ["src/cli/main.ts", "tests/servers/stdio_server.ts"];
let bundles: string | undefined;

/** The argument vector that runs one of the repository's programs in this runtime. */
export function program(file: string): string[] {
  if ("Bun" in globalThis) return [process.execPath, `${root}/${file}`];
  if ("Deno" in globalThis) return [process.execPath, "run", "-A", "--no-check", "--quiet", `${root}/${file}`];
  bundles ??= bundlePrograms();
  return [process.execPath, join(bundles, basename(file, ".ts") + ".mjs")];
}

/** A word as a POSIX shell, and a target, would have it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The target that is the fake server on stdio. */
export function peer(...flags: string[]): string {
  return [...program("tests/servers/stdio_server.ts"), ...flags].map(quote).join(" ");
}

/** Runs `causeway` with these words and waits for its end. */
export function causeway(words: readonly string[], options: RunOptions = {}): Promise<Run> {
  const [command = "", ...args] = program("src/cli/main.ts");
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args, ...words], {
      cwd: options.cwd ?? root,
      // Nobody's own sign-ins, and nothing is kept.
      env: {
        ...process.env,
        CAUSEWAY_HOME: join(tmpdir(), "causeway-no-such-home"),
        NODE_DISABLE_COMPILE_CACHE: "1",
        ...options.env,
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => err += text);
    child.stdin.on("error", () => {});
    if (!options.keepsInput) child.stdin.end(options.input ?? "");
    const timer = setTimeout(() => child.kill("SIGKILL"), longest);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, out, err });
    });
    options.started?.(child);
  });
}

/** Node 20 cannot strip types: there the programs run as a package for Node would carry them, in files that are read when they are needed. */
function bundlePrograms(): string {
  const folder = mkdtempSync(join(tmpdir(), "causeway-cli-node-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const flags = ["--bundle", "--splitting", "--platform=node", "--format=esm", "--target=node20", "--log-level=error"];
  const built = spawnSync(`${root}/node_modules/.bin/esbuild`, [
    ...programs.map((file) => `${root}/${file}`),
    ...flags,
    // `ws` is a CommonJS package.
    '--banner:js=import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    "--entry-names=[name]",
    "--out-extension:.js=.mjs",
    `--outdir=${folder}`,
  ]);
  assertEquals(built.status, 0, `esbuild: ${built.stderr}`);
  return folder;
}

/** Makes sure of a failure as it has to be: its exit code, nothing on the standard output, one line that says this. */
export function assertFailure(run: Run, code: number, pattern: RegExp): void {
  const seen = { code: run.code, out: run.out, says: pattern.test(run.err), lines: run.err.split("\n").length - 1 };
  assertEquals(seen, { code, out: "", says: true, lines: 1 }, `${pattern} was due, got: ${run.err}`);
  assertEquals(run.err.startsWith("causeway: ") && run.err.endsWith("\n"), true, run.err);
}

/** Where commands run, with a home of their own. */
export interface Place {
  readonly root: string;
  readonly own: string;
  run(...words: string[]): Promise<Run>;
  json(path: string): { mcpServers: Record<string, Record<string, unknown>> };
}

/** A folder of a project and a person's own, with these files. */
export async function inPlace(
  files: Readonly<Record<string, string>>,
  use: (place: Place) => Promise<void>,
  variables: Readonly<Record<string, string>> = {},
): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "causeway-own-")));
  try {
    for (const [path, text] of Object.entries({ "app/.keep": "", "home/.keep": "", ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const home = join(root, "home");
    const env = {
      ...{ HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: join(home, ".config"), CLAUDE_CONFIG_DIR: home },
      ...{ CAUSEWAY_HOME: join(home, "causeway"), TEST_NAME: "filled", ...variables },
    };
    await use({
      root,
      own: join(home, "causeway", "causeway.json"),
      run: (...words) => causeway(words, { cwd: join(root, "app"), env }),
      json: (path) => JSON.parse(readFileSync(path, "utf8")),
    });
  } finally {
    rmSync(root, { recursive: true });
  }
}
