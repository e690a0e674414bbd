/**
 * Who holds a lock: written as a name, and whether that process still lives.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { readlinkSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import process from "node:process";
import { randomHex } from "../../ports.ts";
import type { Random } from "../../ports.ts";
import { codeOf } from "./file_access.ts";

/** What is known of this process, or of its thread where those can be told apart. A part that cannot be found out is "x". */
export interface Self {
  /** Its number. Linux numbers threads as it does processes, and tells the same of both: one may be ended while the other lives. */
  readonly id: number;
  /** When it started, in the system's own count: a later one with the same number has another one. */
  readonly started: string;
  /** This machine since it was started, and its table of processes: containers have their own. */
  readonly machine: string;
}

const unknown = "x";

/** Reads what the system tells in a file. */
export type ReadSystem = (path: string) => Promise<string>;

/** Finds out what is known of this process. */
export async function knowSelf(read: ReadSystem = readText): Promise<Self> {
  const id = await ownThread() ?? process.pid;
  return { id, started: (await inspect(id))?.started ?? unknown, machine: await machineName(read) };
}

/** The number of the thread that asks; undefined where threads cannot be told apart. */
async function ownThread(): Promise<number | undefined> {
  try {
    // Not by a promise: another thread would read it.
    const [, pid, thread] = /^(\d+)\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self")) ?? [];
    const id = Number(thread);
    return Number(pid) === process.pid && !isGone(id) && await inspect(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** The name of one lock of this process: no two are the same. */
export function nameOwner({ id, started, machine }: Self, random: Random): string {
  return `${id}.${started}.${machine}.${randomHex(random, 16)}`;
}

/** The number of the process, or of its thread, that a name holds, or undefined for what is no such name. */
export function processOf(name: string): number | undefined {
  const [, pid] = /^([1-9]\d{0,9})\.(?:\d+|x)\.(?:[\da-f]{16}|x)\.[\da-f]{32}$/.exec(name) ?? [];
  return pid === undefined ? undefined : Number(pid);
}

/** The number of the process whose name this is, also where it is one of its threads; undefined for what is no such name. */
export async function leaderOf(name: string, { machine }: Self): Promise<number | undefined> {
  const id = processOf(name);
  if (id === undefined || machine === unknown || name.split(".")[2] !== machine) return id;
  const text = await readText(`/proc/${id}/status`).catch(() => "");
  return Number(/^Tgid:\s*(\d+)$/m.exec(text)?.[1] ?? id);
}

/** Whether the holder lives. `unknown` where that cannot be seen from here: another machine, or a system that does not tell. */
export async function judgeOwner(name: string, self: Self): Promise<"alive" | "dead" | "unknown"> {
  const pid = processOf(name);
  const [, started, machine] = name.split(".");
  if (pid === undefined || machine !== self.machine || machine === unknown) return "unknown";
  if (isGone(pid)) return "dead";
  const found = await inspect(pid);
  if (!found || started === unknown) return "unknown";
  // One that was killed and waits for its parent does nothing any more.
  return found.isOver || found.started !== started ? "dead" : "alive";
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
}

/** What Linux tells of a process; undefined elsewhere. */
async function inspect(pid: number): Promise<{ started: string; isOver: boolean } | undefined> {
  try {
    const text = await readText(`/proc/${pid}/stat`);
    // The second field is the program's name, which may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", started] = [fields[0], fields[19]];
    return started === undefined ? undefined : { started, isOver: "ZXx".includes(state) };
  } catch {
    return undefined;
  }
}

async function machineName(read: ReadSystem): Promise<string> {
  try {
    const isLinux = process.platform === "linux";
    // Without it two containers of one name could not be told apart.
    const processes = isLinux ? await readlink("/proc/self/ns/pid") : "";
    const parts = [hostname(), processes, ...(isLinux ? await bootOf(read) : [])];
    return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
  } catch {
    // Deno asks for permissions.
    return unknown;
  }
}

/**
 * Which start of the machine this is: two machines may have one name, and after a restart a process may have the number and the
 * age of an earlier one. Nothing where that is not told.
 */
async function bootOf(read: ReadSystem): Promise<string[]> {
  try {
    return [(await read("/proc/sys/kernel/random/boot_id")).trim()];
  } catch {
    return [];
  }
}

function readText(path: string): Promise<string> {
  return readFile(path, "utf8");
}
