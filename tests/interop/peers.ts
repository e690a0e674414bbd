/**
 * The official servers as processes: how each is started, over stdio and over HTTP, and how it ends.
 */
import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { endProcess, startProcess } from "../../tools/process.ts";
import { nodePath, root } from "../../tools/programs.ts";

/** Why the tests of real servers cannot run here; false when they can. */
export const skip: string | false = nodePath() === undefined
  ? "there is no node to run the official servers with"
  : existsSync(join(root, "node_modules/@modelcontextprotocol/server-everything/package.json"))
  ? false
  : "the official servers are not installed";

/** A program and its arguments, as `connect` takes it. */
export interface Command {
  command: string;
  args: string[];
}

/** A server that listens on loopback. */
export interface HttpPeer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** What it has written so far, both streams. */
  output(): string;
  /** Ends it and waits until it is gone. */
  stop(): Promise<void>;
}

/** `@modelcontextprotocol/server-everything`: `stdio`, `streamableHttp` or `sse`. */
export function everything(mode: "stdio" | "streamableHttp" | "sse"): Command {
  return nodeCommand("node_modules/@modelcontextprotocol/server-everything/dist/index.js", mode);
}

/** `@modelcontextprotocol/server-filesystem`, over stdio, in the given folders. */
export function filesystem(...folders: string[]): Command {
  return nodeCommand("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", ...folders);
}

/** The server of `sdk_server.mjs`, written on the official SDK. */
export function sdkServer(mode: "stdio" | "stdio-legacy" | "http"): Command {
  return nodeCommand("tests/interop/sdk_server.mjs", mode);
}

/** Starts a server over HTTP on a free loopback port; resolves when it listens, rejects when it ends before or is too slow. */
export function startHttp({ command, args }: Command): Promise<HttpPeer> {
  const preload = pathToFileURL(join(root, "tests/interop/loopback.mjs")).href;
  const child = startProcess([command, `--import=${preload}`, ...args], { env: { PORT: "0" } });
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string) => {
      endProcess(child);
      reject(new Error(`${args[0]} ${why}\n${output}`));
    };
    const timer = setTimeout(() => fail("did not listen within 25 seconds"), 25_000);
    const take = (text: string) => {
      output += text;
      const port = /^LISTENING (\d+)$/m.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve({ url: `http://127.0.0.1:${port}`, output: () => output, stop: () => stop(child) });
    };
    child.stdout?.setEncoding("utf8").on("data", take);
    child.stderr?.setEncoding("utf8").on("data", take);
    child.once("error", (error) => fail(error.message));
    child.once("exit", (code) => fail(`ended with ${code}`));
  });
}

/** Whether a process is there; one that has ended and waits for its parent does not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !existsSync("/proc/self/stat") || !/^\d+ \(.*\) [ZX]/s.test(statOf(pid));
}

/** Waits until something holds; fails after `milliseconds` (20,000: on a busy machine a process takes its time). */
export async function until(holds: () => boolean, what: string, milliseconds = 20_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited ${milliseconds} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function nodeCommand(file: string, ...args: string[]): Command {
  return { command: nodePath() ?? "node", args: [join(root, file), ...args] };
}

function statOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "0 (gone) X";
  }
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const over = child.exitCode !== null || child.signalCode !== null;
  endProcess(child);
  if (!over) await ended;
}
