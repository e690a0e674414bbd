/** Child processes that always end: own process group, a time limit, and nothing left behind. */
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { quietEnvironment, root } from "./programs.ts";

/** How a child ended, and what it wrote. */
export interface ProcessResult {
  /** The exit code; null when a signal ended it or it could not be started. */
  readonly code: number | null;
  readonly timedOut: boolean;
  /** Standard output and standard error in the order in which they came; only the last 1 MiB. */
  readonly output: string;
  /** Standard output alone; only the last 1 MiB. */
  readonly standardOutput: string;
  readonly milliseconds: number;
}

/** How to run a child. */
export interface ProcessOptions {
  /** Milliseconds until the whole process group is killed. Default 120,000. */
  readonly timeout?: number;
  /** Milliseconds without a word until it is killed too. Default: any. */
  readonly silence?: number;
  /** The working folder. Default: the repository's root. */
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Give it a standard input that ends with this process, however that ends. Default false: it has none. */
  readonly input?: boolean;
  /** Also show the child's output while it runs. Default false. */
  readonly echo?: boolean;
}

const keptCharacters = 1024 * 1024;
const running = new Set<ChildProcess>();
let watching = false;

/** Starts a child as the leader of its own process group; it is killed when this process ends. */
export function startProcess(command: readonly string[], options: ProcessOptions = {}): ChildProcess {
  watchForTheEnd();
  const [program, ...rest] = command;
  if (program === undefined) throw new TypeError("a command needs at least a program");
  const child = spawn(program, rest, {
    cwd: options.cwd ?? root,
    env: { ...process.env, ...quietEnvironment, ...options.env },
    stdio: [options.input === true ? "pipe" : "ignore", "pipe", "pipe"],
    detached: process.platform !== "win32",
  });
  running.add(child);
  child.once("exit", () => endProcess(child));
  child.once("error", () => running.delete(child));
  return child;
}

/** Kills a child and all that it started, by its process group. */
export function endProcess(child: ChildProcess, signal: "SIGTERM" | "SIGKILL" = "SIGKILL"): void {
  running.delete(child);
  if (child.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-child.pid, signal);
  } catch {
    // the group has ended already
  }
}

/** Runs a child to its end and collects its output; never rejects. */
export function runProcess(command: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
  const started = performance.now();
  const child = startProcess(command, options);
  let output = "";
  let standardOutput = "";
  let timedOut = false;
  const end = () => {
    timedOut = true;
    endProcess(child);
  };
  const timer = setTimeout(end, options.timeout ?? 120_000);
  const silent = options.silence === undefined ? undefined : setTimeout(end, options.silence);
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    standardOutput = (standardOutput + text).slice(-keptCharacters);
    take(text);
  });
  child.stderr?.setEncoding("utf8").on("data", take);

  function take(text: string): void {
    output = (output + text).slice(-keptCharacters);
    silent?.refresh();
    if (options.echo === true) process.stderr.write(text);
  }

  return new Promise((resolve) => {
    let settled = false;
    function settle(code: number | null): void {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      clearTimeout(silent);
      resolve({ code, timedOut, output, standardOutput, milliseconds: performance.now() - started });
    }
    child.once("error", (error) => {
      output += `cannot start ${JSON.stringify(command[0])}: ${error.message}`;
      settle(null);
    });
    child.once("close", (code) => settle(code));
    // A grandchild that left the group may hold the pipes open: do not wait for it.
    child.once("exit", (code) => setTimeout(() => settle(code), 2000).unref());
  });
}

/** Runs the tasks in order, at most `width` at a time; the results keep the order of the tasks. */
export async function runSome<Value>(tasks: readonly (() => Promise<Value>)[], width: number): Promise<Value[]> {
  const results: Value[] = [];
  const entries = tasks.entries();
  await Promise.all(Array.from({ length: width }, async () => {
    for (const [index, task] of entries) results[index] = await task();
  }));
  return results;
}

function watchForTheEnd(): void {
  if (watching) return;
  watching = true;
  process.once("exit", endAll);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => {
      endAll();
      process.exit(130);
    });
  }
}

function endAll(): void {
  for (const child of running) endProcess(child);
}
