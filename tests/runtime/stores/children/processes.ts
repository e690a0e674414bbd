/** Starts processes that use a file store, in any runtime. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { bunPath, denoPath, nodePath } from "../../../../tools/programs.ts";

/** A process at work. */
export interface Child {
  readonly pid: number;
  /** What it said so far. */
  readonly lines: string[];
  /** Resolves when it has said a line. */
  said(line: string): Promise<void>;
  /** Resolves to its exit code or signal, and what it wrote to its standard error. */
  readonly ended: Promise<{ how: number | string | null; errors: string }>;
  kill(): void;
}

/** Bundles the program into a folder, so that each runtime can run it. */
export async function bundleProgram(folder: string): Promise<string> {
  const { build } = await import("esbuild");
  const outfile = join(folder, "program.mjs");
  // The tests run from the repository's root, also where they were compiled to somewhere else.
  const entry = join(process.cwd(), "tests", "runtime", "stores", "children", "program.ts");
  await build({
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    outfile,
    logLevel: "silent",
  });
  return outfile;
}

/** The ways to run a program: this runtime's first, then those of the others that are installed. */
export function runtimes(): readonly (readonly string[])[] {
  const [bun, deno, node] = [bunPath(), denoPath(), nodePath()];
  const ways = [
    ...(bun === undefined ? [] : [[bun]]),
    ...(deno === undefined ? [] : [[deno, "run", "-A", "--no-check", "--quiet"]]),
    ...(node === undefined ? [] : [[node]]),
  ];
  return ways.sort((left, right) => Number(right[0] === process.execPath) - Number(left[0] === process.execPath));
}

/** Starts one. */
export function start(way: readonly string[], program: string, ...parameters: readonly string[]): Child {
  return startAs(undefined, way, program, ...parameters);
}

/** Starts one as another user, which the administrator alone may do. */
export function startAs(uid: number | undefined, way: readonly string[], ...parameters: readonly string[]): Child {
  const [command = "", ...rest] = way;
  const user = uid === undefined ? {} : { uid, gid: uid, cwd: "/" };
  const child: ChildProcess = spawn(command, [...rest, ...parameters], { stdio: ["ignore", "pipe", "pipe"], ...user });
  const lines: string[] = [];
  let errors = "";
  const waiting = new Set<() => void>();
  if (child.stdout) {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  child.stderr?.on("data", (data) => void (errors += String(data)));
  const ended = new Promise<{ how: number | string | null; errors: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ how: signal ?? code, errors }));
  });
  return {
    pid: child.pid ?? 0,
    lines,
    ended,
    kill: () => void child.kill("SIGKILL"),
    async said(line) {
      const heard = new Promise<void>((resolve) => {
        const look = (): void => {
          if (lines.includes(line)) resolve();
        };
        waiting.add(look);
        look();
      });
      const over = ended.then(({ how, errors }) => {
        if (!lines.includes(line)) throw new Error(`it ended (${how}) before it said "${line}": ${errors}`);
      });
      await Promise.race([heard, over]);
    },
  };
}
