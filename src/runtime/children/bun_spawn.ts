/**
 * Programs started by `Bun.spawn`.
 *
 * @module
 */
import { setImmediate } from "node:timers";
import type { Spawn } from "../../ports.ts";
import { ChildBooks, platform, pump, spawnFailure, spawnPlan } from "./child.ts";
import { isPromise } from "../../protocol/promise.ts";

/** The part of Bun's global that is used, so that no other runtime needs Bun's types. */
declare const Bun: {
  spawn(options: {
    cmd: string[];
    env: Readonly<Record<string, string>>;
    cwd?: string;
    stdin: "pipe";
    stdout: "pipe";
    stderr: "pipe";
    detached: boolean;
    windowsHide: boolean;
    windowsVerbatimArguments: boolean;
  }): {
    pid: number;
    stdin: { write(text: string): number; flush(): number | Promise<number>; end(): number | Promise<number> };
    stdout: ReadableStream<Uint8Array>;
    stderr: ReadableStream<Uint8Array>;
    exited: Promise<number>;
    exitCode: number | null;
    signalCode: string | null;
  };
};

/**
 * Starts a child by `Bun.spawn`, as leader of its own process group.
 *
 * @throws {SpawnError} When it cannot be started.
 */
export const bunSpawn: Spawn = async (command, events) => {
  let child: ReturnType<typeof Bun.spawn>;
  try {
    const plan = await spawnPlan(command);
    child = Bun.spawn({
      cmd: [plan.command, ...plan.args],
      env: command.env,
      ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      stdin: "pipe",
      stdout: "pipe",
      stderr: "pipe",
      detached: platform === "posix",
      windowsHide: true,
      windowsVerbatimArguments: plan.verbatim,
    });
  } catch (error) {
    throw await spawnFailure(command, error);
  }
  // Bun keeps what nobody reads in memory without limit, so the readers are attached in this very tick.
  const stopOutput = pump(child.stdout, inTurns((chunk) => events.output(chunk)), () => books.outputEnd());
  const stopErrors = pump(child.stderr, inTurns((chunk) => events.errorOutput(chunk)), () => books.errorEnd());
  let inputClosed = false;
  const closeInput = () => {
    if (inputClosed) return;
    inputClosed = true;
    settle(() => child.stdin.end());
  };
  const books = new ChildBooks(child.pid, command.command, events, (input) => {
    if (input) return closeInput();
    stopOutput();
    stopErrors();
  });
  void child.exited.then(() => books.exit({ code: child.exitCode, signal: child.signalCode }));
  return {
    pid: child.pid,
    write(text) {
      // Bun takes a write after the end without a word.
      if (books.ended || inputClosed) throw books.writeError();
      try {
        child.stdin.write(text);
        const flushed = child.stdin.flush();
        if (typeof flushed !== "number") return books.follow(flushed);
      } catch (error) {
        throw books.writeError(error);
      }
    },
    closeInput,
    kill: (signal) => books.kill(signal),
    isEnding: () => books.isEnding,
  };
};

/**
 * Lets all else have its turn while a child writes faster than it is read. Bun gives what is there already within the same turn of
 * the event loop: for as long as that goes on, no timer fires, and nobody else is read.
 */
function inTurns(take: (chunk: Uint8Array) => void | Promise<void>): typeof take {
  const longest = 10;
  let turnedAt = performance.now();
  return (chunk) => {
    const wait = take(chunk);
    if (wait || performance.now() - turnedAt < longest) return wait;
    return new Promise((resolve) => {
      setImmediate(() => {
        turnedAt = performance.now();
        resolve();
      });
    });
  };
}

/** Runs what may throw or reject after the other side is gone. */
function settle(run: () => unknown): void {
  try {
    const result = run();
    if (isPromise(result)) result.catch(() => {});
  } catch {
    // It is closed already.
  }
}
