/**
 * The standard input and output of this process, on Bun, Deno and Node.
 *
 * @module
 */
import process from "node:process";
import type { StandardStreams } from "../ports.ts";

/** Methods of `console` that write to the standard output: on Deno also `clear`, on Bun what follows it. */
const talkative = [
  ...["log", "info", "debug", "dir", "dirxml", "table", "group", "groupCollapsed", "count", "timeLog", "timeEnd"],
  ...["clear", "write", "takeHeapSnapshot"],
] as const;

/**
 * Takes the standard streams of this process, once and for good. From now on only what is written here gets to the
 * standard output: `console.log` and `process.stdout.write` of anybody else go to the standard error (specification: stdio).
 */
export function ownStdio(): StandardStreams {
  const { stdin, stdout } = process;
  const write = stdout.write.bind(stdout);
  silenceOthers();
  let closed = false;
  let ended = false;
  let tell: (reason?: unknown) => void = () => {};
  const end = (reason?: unknown): void => {
    if (ended) return;
    ended = true;
    tell(reason);
  };
  const finished = (): void => end();
  const broken = (reason: unknown): void => end(reason ?? new Error("A standard stream broke"));
  let take: (chunk: Uint8Array) => void = () => {};
  return {
    open(input, onEnd) {
      take = input;
      tell = onEnd;
      stdout.on("error", broken);
      stdin.on("error", broken).on("end", finished).on("close", finished).on("data", take);
    },
    write(text) {
      let done: (error?: Error | null) => void = () => {};
      // Bun says by this alone that some is left over, Node and Deno by the length.
      const isTaken = write(text, (error) => done(error));
      // Nothing is left over: the system took it all in this call.
      if (isTaken && stdout.writableLength === 0 && !stdout.errored) return;
      return new Promise<void>((taken, failed) => done = (error) => error ? failed(error) : taken());
    },
    close() {
      if (closed) return;
      closed = true;
      ended = true;
      stdin.off("data", take).off("end", finished).off("close", finished).off("error", broken);
      stdin.on("error", ignore);
      stdin.pause();
      stdin.destroy();
      // A pipe that breaks after the last message is of no interest any more.
      stdout.off("error", broken).on("error", ignore);
    },
  };
}

/** Sends what others write to the standard output to the standard error. */
function silenceOthers(): void {
  const { stdout, stderr } = process;
  const own = console as unknown as Record<string, (...values: unknown[]) => void>;
  // A console that is frozen (`node --frozen-intrinsics`) stays as it is: Node's own writes by `stdout.write`.
  const put = (name: string, write: (...values: unknown[]) => void): boolean => Reflect.set(own, name, write);
  for (const name of ["error", "warn"]) {
    const write = own[name]!.bind(console);
    // Bun writes a line without values to the standard output.
    put(name, (...values) => values.length > 0 ? write(...values) : write(""));
  }
  for (const name of talkative) if (own[name]) put(name, (...values) => console.error(...values));
  // Bun's writes to the standard output too.
  put("trace", (...values) => console.error(...values, new Error("Trace").stack));
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  // What was meant for the standard output may be lost where nobody reads the other.
  stderr.on("error", ignore);
}

function ignore(): void {}
