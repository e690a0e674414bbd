/**
 * Programs started by `node:child_process`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Spawn } from "../../ports.ts";
import { ChildBooks, platform, release, spawnFailure, spawnPlan } from "./child.ts";

/**
 * Starts a child by `node:child_process`, as leader of its own process group.
 *
 * @throws {SpawnError} When it cannot be started.
 */
export const nodeSpawn: Spawn = async (command, events) => {
  const plan = await spawnPlan(command);
  return await new Promise((resolve, reject) => {
    const fail = (error: unknown): void => void spawnFailure(command, error).then(reject);
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawn(plan.command, plan.args, {
        env: command.env,
        cwd: command.cwd,
        stdio: "pipe",
        detached: platform === "posix",
        windowsHide: true,
        windowsVerbatimArguments: plan.verbatim,
      });
    } catch (error) {
      return fail(error);
    }
    child.on("error", fail);
    const { pid, stdin, stdout, stderr } = child;
    if (pid === undefined) return;
    const books = new ChildBooks(pid, command.command, events, (input) => {
      if (input) return void stdin.destroy();
      stdout.destroy();
      stderr.destroy();
    });
    // A broken pipe is told by the write that meets it; without this listener it would end this program.
    stdin.on("error", () => {});
    stdout.on("error", () => {}).on("close", () => books.outputEnd()).on("end", () => books.outputEnd());
    stderr.on("error", () => {}).on("close", () => books.errorEnd()).on("end", () => books.errorEnd());
    stdout.on("data", (chunk: Uint8Array) => {
      const wait = events.output(chunk);
      if (!wait) return release(chunk);
      const resume = () => void stdout.resume();
      stdout.pause();
      wait.then(resume, resume);
    });
    stderr.on("data", (chunk: Uint8Array) => events.errorOutput(chunk));
    child.on("exit", (code, signal) => books.exit({ code: signal === null ? code : null, signal }));
    resolve({
      pid,
      write(text) {
        if (books.ended || !stdin.writable) throw books.writeError();
        let done: (error?: Error | null) => void = () => {};
        stdin.write(text, (error) => done(error));
        // Nothing is left over: the system took it all in this call.
        if (stdin.writableLength === 0 && !stdin.errored) return;
        return books.follow(new Promise<void>((taken, failed) => done = (error) => error ? failed(error) : taken()));
      },
      closeInput: () => void stdin.end(),
      kill: (signal) => books.kill(signal),
      isEnding: () => books.isEnding,
    });
  });
};
