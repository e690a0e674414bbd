/**
 * What the three ways to start a process have in common: how failure is told, how a group is ended, and when a child
 * counts as over.
 *
 * @module
 */
import process from "node:process";
import type { ExitStatus, ProcessEvents, Resolve, SpawnCommand } from "../../ports.ts";
import { ConnectError, ConnectionClosedError, SpawnError } from "../../protocol/errors.ts";
import { windowsKillPlan, windowsSpawnPlan } from "./environment.ts";
import type { Platform, WindowsSpawnPlan } from "./environment.ts";

/** How long the end of a process waits for the rest of its standard error, in milliseconds. */
const drainTime = 25;

/** Smaller ones are many, and not worth the call. */
const largeChunk = 2 ** 14;

/** The family of the system that this process runs on. */
export const platform: Platform = process.platform === "win32" ? "windows" : "posix";

/** How to start a command here: as it is, or on Windows by {@linkcode windowsSpawnPlan}. */
export async function spawnPlan(command: SpawnCommand): Promise<WindowsSpawnPlan> {
  if (platform === "posix") return { command: command.command, args: command.args, verbatim: false };
  const kindOf = await kinds();
  const variable = (name: string) => Object.entries(command.env).find(([key]) => key.toUpperCase() === name)?.[1];
  return windowsSpawnPlan(command.command, command.args, {
    path: variable("PATH") ?? "",
    pathExtensions: variable("PATHEXT"),
    systemRoot: variable("SYSTEMROOT") ?? process.env.SystemRoot,
    current: process.cwd(),
    folder: command.cwd,
    isFile: (path) => kindOf(path) === "file",
  });
}

/** The error for a command that could not be started: what is wrong and what to do. */
export async function spawnFailure(command: SpawnCommand, error: unknown): Promise<SpawnError> {
  if (error instanceof SpawnError) return error;
  const nul = nulIn(command);
  // The runtime's own error would repeat the whole text.
  if (nul) return new SpawnError(`Cannot start "${command.command}": ${nul} holds a NUL, which no system takes`);
  return new SpawnError(`Cannot start "${command.command}": ${await failureReason(command, error)}`, { cause: error });
}

/** What of a command no system takes. Variables and arguments may be secrets: only their names are told. */
function nulIn({ args, env }: SpawnCommand): string | undefined {
  const at = args.findIndex((text) => String(text).includes("\0"));
  if (at >= 0) return `the argument ${at + 1}`;
  const [name] = Object.entries(env).find((entry) => entry.join().includes("\0")) ?? [];
  return name === undefined ? undefined : `the variable ${JSON.stringify(name)}`;
}

async function failureReason({ command, cwd, env }: SpawnCommand, error: unknown): Promise<string> {
  // By what it has: under jest and its like it is of another realm.
  const { name, message = String(error), code }: { name?: string; message?: string; code?: unknown } = Object(error);
  const kindOf = await kinds();
  const kind = cwd === undefined ? "folder" : kindOf(cwd);
  if (kind !== "folder" && kind !== "hidden") {
    return `the working folder "${cwd}" does not exist or is no folder; ${homeIn(cwd) ?? 'correct "cwd"'}`;
  }
  if (name === "NotCapable") return "this process may not start programs; run Deno with --allow-run";
  if (code === "ERR_ACCESS_DENIED") return "this process may not start programs; run Node with --allow-child-process";
  const isDenied = code === "EACCES" || code === "EPERM" || name === "PermissionDenied";
  const files = platform === "posix" ? (env.PATH ?? "").split(":").map((folder) => `${folder}/${command}`) : [];
  const file = files.find((path) => mayLook(path) && kindOf(path) === "file");
  // So the system says, too, where this user may not look into one folder of the PATH, and all others have no such program.
  const isNowhere = isDenied && !file && !/[\\/]/.test(command) && files.length > 0 && files.every(mayLook);
  if (code === "ENOENT" || name === "NotFound" || isNowhere) {
    const isLine = /^[^\s\\/]+\s+\S/.test(command);
    if (/[\\/]/.test(command) && !isLine) {
      const advice = homeIn(command) ?? "correct the path";
      return `there is no such file, or the interpreter that its first line names is missing; ${advice}`;
    }
    // As of a tool whose interpreter was updated away: that it is to be installed would be told to who has it.
    return file
      ? `"${file}" may not be executed, or the interpreter that its first line names is missing; install it anew`
      : isLine
      ? 'there is no such program on the PATH: what follows a program belongs into "args"'
      : "there is no such program on the PATH; install it, or give its full path";
  }
  // Bun alone; the others hand it to a shell.
  if (code === "ENOEXEC") {
    return 'it is no program of this system; a script begins with the line "#!/bin/sh", or with that of its interpreter';
  }
  if (isDenied) {
    const place = cwd === undefined || command.startsWith("/") ? command : `${cwd}/${command}`;
    if (/[\\/]/.test(command) && mayLook(place) && kindOf(place) === "folder") {
      return "it is a folder; name a program in it";
    }
    return "it may not be executed; make the file executable, or start its interpreter with the file as argument";
  }
  return message;
}

/** What to say of a path that only a shell would take for one below the user's own folder. */
function homeIn(path: string = ""): string | undefined {
  return /(^|[\\/])~([\\/]|$)/.test(path) ? 'only a shell knows "~": write the whole path' : undefined;
}

/** Whether it can be looked at without a word: Deno asks whoever sits at the terminal, and here for one folder after the other. */
function mayLook(path: string): boolean {
  const { Deno } = globalThis as { Deno?: { permissions: { querySync(of: object): { state: string } } } };
  return !Deno || Deno.permissions.querySync({ name: "read", path }).state === "granted";
}

/** What tells files from folders. It is loaded when it is asked for: a program that starts well needs none. */
async function kinds(): Promise<(path: string) => "file" | "folder" | "hidden" | undefined> {
  const { statSync } = await import("node:fs");
  return (path) => {
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      return found?.isDirectory() ? "folder" : found?.isFile() ? "file" : undefined;
    } catch (error) {
      // By the permissions of Deno, or those of Node.
      const { name, code } = error as { readonly name?: string; readonly code?: string };
      return name === "NotCapable" || code === "ERR_ACCESS_DENIED" ? "hidden" : undefined;
    }
  };
}

/**
 * Keeps the books of one child, so that each event is told exactly once, whatever the runtime does.
 *
 * The pipes are let go once the process has ended and its group was sent SIGKILL: a process that left the group and
 * still holds a pipe cannot keep this program alive. From then on no signal is sent, since the number may be taken again.
 */
export class ChildBooks {
  /** The process has ended: nothing can be written any more. */
  ended = false;
  readonly #pid: number;
  readonly #command: string;
  readonly #events: ProcessEvents;
  readonly #letGo: (input: boolean) => void;
  readonly #waiting = new Set<(error: Error) => void>();
  #outputEnded = false;
  #errorEnded = false;
  #killed = false;
  #status: ExitStatus | undefined;
  #told = false;

  /**
   * @param letGo Destroys the standard input (`true`), or the standard output and error (`false`). Must not throw.
   */
  constructor(pid: number, command: string, events: ProcessEvents, letGo: (input: boolean) => void) {
    this.#pid = pid;
    this.#command = command;
    this.#events = events;
    this.#letGo = letGo;
  }

  /** Whether its end is about to be told: on a busy machine the system takes its time between these. */
  get isEnding(): boolean {
    return this.ended || (this.#outputEnded && this.#errorEnded);
  }

  /** The standard output has ended. */
  outputEnd(): void {
    if (this.#outputEnded) return;
    this.#outputEnded = true;
    this.#events.outputEnd();
  }

  /** The standard error has ended. */
  errorEnd(): void {
    this.#errorEnded = true;
    this.#tell();
  }

  /** The process has ended. What it wrote to its standard error last is waited for, but only shortly. */
  exit(status: ExitStatus): void {
    if (this.#status) return;
    this.#status = status;
    this.ended = true;
    this.#letGo(true);
    for (const reject of this.#waiting) reject(this.writeError());
    this.#waiting.clear();
    if (this.#errorEnded || this.#killed) this.#tell();
    else setTimeout(() => setTimeout(() => this.#tell(true), 0), drainTime);
  }

  /** Signals the whole group. */
  kill(signal: "SIGTERM" | "SIGKILL"): void {
    if (this.ended && this.#killed) return;
    if (platform === "posix") {
      try {
        process.kill(-this.#pid, signal);
      } catch {
        // Nothing of the group is left.
      }
    } else if (!this.ended) {
      // Of what has ended Windows knows no children, and gives its number to another program at once.
      const { command, args } = windowsKillPlan(this.#pid, signal, process.env.SystemRoot);
      void import("node:child_process").then(({ spawn }) =>
        spawn(command, args, { stdio: "ignore", windowsHide: true }).on("error", () => {}).unref()
      );
    }
    if (signal === "SIGKILL") {
      this.#killed = true;
      if (this.ended) this.#release();
    }
  }

  /** Follows a write that was not done at once: it also ends, by an error, when the process ends first. */
  follow(written: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      written.then(
        () => {
          this.#waiting.delete(reject);
          resolve();
        },
        (cause) => {
          this.#waiting.delete(reject);
          reject(this.writeError(cause));
        },
      );
    });
  }

  /** The error of a write that cannot be done. */
  writeError(cause?: unknown): ConnectionClosedError {
    const why = this.ended ? "it has ended" : "its input is closed";
    const delivery = cause === undefined ? "not-sent" : "unknown";
    return new ConnectionClosedError(`Cannot write to "${this.#command}": ${why}`, { cause, delivery });
  }

  #tell(now = this.#errorEnded || this.#killed): void {
    if (!this.#status || this.#told || !now) return;
    this.#told = true;
    this.#events.exit(this.#status);
    if (this.#killed) this.#release();
  }

  #release(): void {
    this.#letGo(false);
    this.outputEnd();
  }
}

/** Whether a chunk is worth giving back early, and has its memory to itself: what is part of something else is not ours. */
export function isLargeAlone({ length, buffer }: Uint8Array): boolean {
  return length >= largeChunk && length === buffer.byteLength;
}

/** Takes the memory of bytes back that have been read: a long message would else be held by its chunks too until they are collected. */
export function release(chunk: Uint8Array): void {
  // Node 20 cannot. What holds more than these bytes may be in use.
  if (isLargeAlone(chunk)) (chunk.buffer as ArrayBuffer).transfer?.(0);
}

/** Reads a stream to its end, one chunk at a time; `take` may hold the next one back. Returns what breaks it off. */
export function pump(
  stream: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => void | Promise<void>,
  end: () => void,
): () => void {
  const reader = stream.getReader();
  const read = async (): Promise<void> => {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        const chunk = next.value;
        const wait = take(chunk);
        if (wait) await wait;
        release(chunk);
      }
    } catch {
      // A stream that breaks has ended.
    }
    end();
  };
  void read();
  return () => void reader.cancel().catch(() => {});
}

/**
 * Finds the addresses of a host name by the system's own resolver, the one that connections use.
 *
 * @throws {ConnectError} When the name has no address.
 */
export const systemResolve: Resolve = async (hostname) => {
  // A program that only starts children does without it.
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  } catch (cause) {
    throw new ConnectError(`Cannot resolve "${hostname}": the host name is unknown or the resolver does not answer`, {
      cause,
      delivery: "not-sent",
      retryable: true,
    });
  }
};
