/**
 * The program of a local server, from the first moment to the last. It is started before the client is loaded, so that it
 * boots meanwhile; and once it has answered all that was asked, it gets little time to end.
 *
 * @module
 */
import process from "node:process";
import type { ExitStatus, ProcessEvents, Spawn, SpawnedProcess } from "../../ports.ts";
import type { StdioCommand } from "../../transport/stdio.ts";
import { childPorts } from "../wire/ports.ts";
import { compiledFolder, makeOwnFolder } from "./compiled.ts";

/** How long a program that nobody has talked to may take to be gone after SIGKILL, in milliseconds. */
const killTime = 5_000;
const keptErrors = 64 * 1024;

/** A program that runs already when its client asks for it. */
export class EarlyChild implements AsyncDisposable {
  readonly #start: Spawn;
  /** Where Node keeps the code of the program. */
  readonly #compiled: string | undefined;
  readonly #process: Promise<SpawnedProcess>;
  readonly #held: HeldEvents;
  #isTaken = false;
  #isIdle = false;

  private constructor(start: Spawn, command: Parameters<Spawn>[0], compiled: string | undefined) {
    this.#start = start;
    this.#compiled = compiled;
    this.#held = new HeldEvents();
    this.#process = start(command, this.#held);
    // Who takes it is told.
    this.#process.catch(() => {});
  }

  /** Starts the program. That it cannot be started is told to who takes it. */
  static async start({ command, args = [], env = {}, cwd }: StdioCommand): Promise<EarlyChild> {
    const { spawn, environment } = await childPorts();
    const compiled = compiledFolder(command, args, process);
    // Where it is told another one, ours is not used.
    if (compiled !== undefined && env.NODE_COMPILE_CACHE === undefined) makeOwnFolder(compiled);
    const extra = compiled === undefined ? env : { NODE_COMPILE_CACHE: compiled, ...env };
    return new EarlyChild(spawn, { command, args, env: environment(extra), cwd }, compiled);
  }

  /** Gives the program that runs, the first time; another one afterwards, as for a server that died of a question. */
  readonly spawn: Spawn = async (command, events) => {
    const isFirst = !this.#isTaken;
    this.#isTaken = true;
    let isOver = false;
    let stop = (): void => {};
    const heard: ProcessEvents = {
      output: (chunk) => events.output(chunk),
      outputEnd: () => events.outputEnd(),
      errorOutput: (chunk) => events.errorOutput(chunk),
      exit(status) {
        isOver = true;
        stop();
        events.exit(status);
      },
    };
    const child = await (isFirst ? this.#process : this.#start(command, heard));
    // Loaded while it boots.
    const ending = import("./quiet.ts");
    // Who asks has the program first, and then hears of it, as from any that is started now.
    if (isFirst) setTimeout(() => this.#held.handOver(heard), 0);
    return {
      pid: child.pid,
      write: (text) => child.write(text),
      closeInput: () => {
        if (!this.#isIdle) return child.closeInput();
        void ending.then(({ endWhenQuiet, isFirstEnd }) => {
          // What ends by a signal keeps no compiled code.
          if (isOver || (this.#compiled !== undefined && isFirstEnd(this.#compiled))) return child.closeInput();
          stop = endWhenQuiet(child.pid, { closeInput: () => child.closeInput(), end: () => child.kill("SIGTERM") });
        });
      },
      kill: (signal) => child.kill(signal),
      isEnding: () => child.isEnding?.() ?? false,
    };
  };

  /** Says that nothing is asked any more and all was answered: then its end needs no patience. */
  rest(): void {
    this.#isIdle = true;
  }

  /** Ends a program that nobody took: nothing was said to it. Who took it ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isTaken) return;
    const child = await this.#process.catch(() => undefined);
    child?.kill("SIGKILL");
    if (child) await this.#held.ended(killTime);
  }
}

/** Keeps what a program tells until somebody hears it, in the order in which it came. */
class HeldEvents implements ProcessEvents {
  #listener: ProcessEvents | undefined;
  #waiting: (() => void)[] = [];
  #errors: Uint8Array[] = [];
  #status: ExitStatus | undefined;
  #wake = (): void => {};

  /** Tells what was kept, and from now on everything at once. */
  handOver(listener: ProcessEvents): void {
    this.#listener = listener;
    for (const chunk of this.#errors) listener.errorOutput(chunk);
    for (const tell of this.#waiting) tell();
    this.#errors = [];
    this.#waiting = [];
  }

  output(chunk: Uint8Array): void | Promise<void> {
    if (this.#listener) return this.#listener.output(chunk);
    // The promise holds the next read back, so that this is the only one that is kept.
    return new Promise((resolve) => this.#waiting.push(() => resolve(this.#listener?.output(chunk))));
  }

  outputEnd(): void {
    this.#tell((listener) => listener.outputEnd());
  }

  errorOutput(chunk: Uint8Array): void {
    if (this.#listener) return this.#listener.errorOutput(chunk);
    // Its memory may be taken back, and only the last of it is ever shown.
    this.#errors.push(chunk.slice(-keptErrors));
    while (this.#errors.slice(1).reduce((sum, { length }) => sum + length, 0) >= keptErrors) this.#errors.shift();
  }

  exit(status: ExitStatus): void {
    this.#status = status;
    this.#wake();
    this.#tell((listener) => listener.exit(status));
  }

  /** Waits for the end of the program, at most so many milliseconds. */
  ended(milliseconds: number): Promise<void> {
    if (this.#status) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #tell(event: (listener: ProcessEvents) => void): void {
    const listener = this.#listener;
    if (listener) event(listener);
    else this.#waiting.push(() => this.#listener && event(this.#listener));
  }
}
