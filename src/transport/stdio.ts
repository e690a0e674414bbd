/**
 * A server that is a child process: messages as lines on its standard input and output (specification: stdio).
 *
 * @module
 */
import { withoutSecrets } from "../egress/env_secrets.ts";
import { redactWords } from "../egress/redact.ts";
import { systemClock } from "../ports.ts";
import type { Clock, ExitStatus, Logger, Spawn, SpawnedProcess } from "../ports.ts";
import { ConnectionClosedError, LimitExceededError, McpError, PeerExitedError } from "../protocol/errors.ts";
import type { Delivery } from "../protocol/errors.ts";
import { defaultLimits, defaultTimeouts } from "../protocol/limits.ts";
import type { Limits, Timeouts } from "../protocol/limits.ts";
import type { Channel, ChannelReceiver } from "./channel.ts";
import { LineSplitter } from "./lines.ts";
import { TextTail } from "./stdio_tail.ts";

/** Which program to start, and how. */
export interface StdioCommand {
  /** The program: a name on the PATH, or a path. Never a shell line. */
  command: string;
  /** Its arguments, each passed as it is. */
  args?: readonly string[] | undefined;
  /** Variables for the child, over those that it inherits. Credentials belong here: by their names they are kept out of errors. */
  env?: Readonly<Record<string, string>> | undefined;
  /** The folder to start it in; the current one without it. */
  cwd?: string | undefined;
  /** Whether the child gets the short safe list of the parent's variables (`PATH`, `HOME`, …) too. Default true. */
  inheritEnv?: boolean | undefined;
  /**
   * Hears each line that the child writes to its standard error, without its end: untrusted text, with the secrets that `redact`
   * finds in that line taken out. Of a line of more than `limits.messageBytes` only an end is told. What it throws goes to the `logger`.
   */
  onStderr?: ((line: string) => void) | undefined;
}

/** What a stdio channel asks of the world. */
export interface StdioPorts {
  /** Starts the process. */
  spawn: Spawn;
  /** The variables that are inherited, with the command's own over them: each runtime has one. None without it. */
  baseEnvironment?: ((extra: Readonly<Record<string, string>>) => Record<string, string>) | undefined;
  /** Time; the system's own without it. */
  clock?: Clock | undefined;
  /** `messageBytes` and `strays` are used. */
  limits?: Partial<Limits> | undefined;
  /** `close` is used: what each step of ending the process may take, in milliseconds. */
  timeouts?: Partial<Timeouts> | undefined;
  /** Hears of output that is no message, once per connection, and of its count at the end. */
  logger?: Logger | undefined;
  /**
   * Takes secrets out of what the process wrote, before any of it gets into an error or a log: beside those of `env` and `args`, by the
   * names of variables and flags (`…_KEY`, `…_TOKEN`, `…_SECRET`, `…PASSWORD`), and passwords within URLs and connection strings.
   */
  redact?: ((text: string) => string) | undefined;
}

/** A channel to a child process. */
export interface StdioChannel extends Channel {
  /** The process id, once it runs. */
  readonly pid: number | undefined;
  /** The last that the process wrote to its standard error: at most 64 KiB, redacted. */
  stderr(): string;
}

/**
 * How long the end of the process waits for the rest of its output, and the end of its output for the process: longer where
 * there is nothing else that it could be about. Milliseconds.
 */
const outputGrace = 100;
const exitGrace = 100;
const endingGrace = 400;
const killGrace = 10;
const newline = 10;
const keptStderr = 64 * 1024;
const shownStderr = 2048;

/**
 * Makes a channel to a server that is started as a child process. Output lines that are no JSON are counted and skipped.
 * Closing goes: standard input closed, `timeouts.close`, SIGTERM, `timeouts.close`, SIGKILL; signals go to the whole
 * process group, and whatever is left of the group at the end is killed.
 *
 * @param command What to start.
 * @param ports How to start it.
 * @throws {TypeError} When the command is no text, or its arguments are no list.
 */
export function createStdioChannel(command: StdioCommand, ports: StdioPorts): StdioChannel {
  const { command: program, args } = command;
  if (typeof program !== "string") throw new TypeError('Cannot start a program: "command" is no text');
  // Of a text each letter would be an argument.
  if (!Array.isArray(args ?? [])) throw new TypeError(`Cannot start "${program}": "args" is no list of texts`);
  return new ProcessChannel(command, ports);
}

class ProcessChannel implements StdioChannel {
  readonly label: string;
  pid: number | undefined;
  readonly #command: StdioCommand;
  readonly #ports: StdioPorts;
  readonly #clock: Clock;
  readonly #closeTime: number;
  readonly #lines: LineSplitter;
  readonly #stderr = new TextTail(keptStderr);
  readonly #errorLines: LineSplitter | undefined;
  readonly #redact: StdioPorts["redact"];
  #receiver: ChannelReceiver | undefined;
  #process: SpawnedProcess | undefined;
  #starting: Promise<SpawnedProcess> | undefined;
  #status: ExitStatus | undefined;
  #outputEnded = false;
  /** Nothing more is given to the receiver. */
  #over = false;
  #reason: McpError | undefined;
  #heard = false;
  #noise = 0;
  #closing: Promise<void> | undefined;
  /** Those who wait for the process or its output to end. */
  #waiting: (() => void)[] = [];

  constructor(command: StdioCommand, ports: StdioPorts) {
    this.#command = command;
    this.#ports = ports;
    this.label = command.command;
    this.#clock = ports.clock ?? systemClock;
    this.#redact = withoutSecrets(command, ports.redact);
    this.#closeTime = ports.timeouts?.close ?? defaultTimeouts.close;
    const longest = ports.limits?.messageBytes ?? defaultLimits.messageBytes;
    this.#lines = new LineSplitter(longest, (line) => this.#line(line));
    const { onStderr } = command;
    this.#errorLines = onStderr && new LineSplitter(longest, (line) => void this.#tell(onStderr, line));
  }

  async open(receiver: ChannelReceiver): Promise<void> {
    const { command, args, env = {}, cwd, inheritEnv = true } = this.#command;
    this.#receiver = receiver;
    if (this.#closing) throw this.#closed("not-sent");
    const all = inheritEnv ? this.#ports.baseEnvironment?.(env) ?? env : env;
    this.#starting = this.#ports.spawn({ command, args: args ?? [], env: all, cwd }, {
      output: (chunk) => this.#output(chunk),
      outputEnd: () => this.#outputEnd(),
      errorOutput: (chunk) => this.#errorOutput(chunk),
      exit: (status) => this.#exit(status),
    });
    this.#process = await this.#starting;
    this.pid = this.#process.pid;
    if (!this.#closing) return;
    // Closed while it started: nobody is to be left.
    await this.#closing;
    throw this.#closed("not-sent");
  }

  write(messages: readonly string[]): void | Promise<void> {
    if (this.#over || !this.#process || this.#status) throw this.#closed("not-sent");
    let written: void | Promise<void>;
    try {
      written = this.#process.write(messages.join("\n") + "\n");
    } catch (error) {
      return this.#writeFailed(error);
    }
    return written?.catch((error) => this.#writeFailed(error));
  }

  close(): Promise<void> {
    this.#end();
    return this.#closing ??= this.#stop();
  }

  redact(text: string): string {
    return this.#redact?.(text) ?? text;
  }

  stderr(): string {
    return redactWords(this.#stderr.text(), this.#redact);
  }

  #output(chunk: Uint8Array): void | Promise<void> {
    // A child that sends too much is not read any more: it blocks until it is ended. Else its last words are let through.
    if (this.#over) return this.#reason instanceof LimitExceededError ? this.#closing : undefined;
    try {
      this.#lines.push(chunk);
    } catch (error) {
      this.#fail(error instanceof McpError ? error : this.#closed("unknown", error));
    }
  }

  #line(line: string): void {
    if (this.#over) return;
    const start = line.trimStart()[0];
    if (start === "{" || start === "[") {
      this.#heard = true;
      this.#receiver?.text(line);
    } else if (start !== undefined) this.#stray(line);
  }

  #stray(line: string): void {
    const strays = this.#ports.limits?.strays ?? defaultLimits.strays;
    if (++this.#noise === 1) {
      const shown = this.redact(line).slice(0, 200);
      const message = `Skipping output of "${this.label}" that is no message: its logs belong on standard error`;
      this.#ports.logger?.({ level: "warning", message, fields: { server: this.label, line: shown } });
    }
    if (this.#noise > strays) this.#fail(new LimitExceededError("limits.strays", strays, this.#noise));
  }

  #outputEnd(): void {
    this.#outputEnded = true;
    if (!this.#over) this.#lines.end();
    this.#wake();
    // Usually the process ends too; only one that lives on with its output closed has broken the connection itself.
    if (!this.#over && !this.#status) void this.#closedOutput();
  }

  async #closedOutput(): Promise<void> {
    const hasExited = () => this.#status !== undefined;
    await this.#until(hasExited, exitGrace);
    if (this.#process?.isEnding?.()) await this.#until(hasExited, endingGrace);
    if (this.#status || this.#over) return;
    // One that ends slowly has often said why.
    const said = this.#heard ? "" : this.#lastWords("");
    const message = `"${this.label}" closed its standard output and runs on: it cannot answer any more${said}`;
    this.#fail(new ConnectionClosedError(message, { server: this.label, retryable: true }));
  }

  #errorOutput(chunk: Uint8Array): void {
    this.#stderr.push(chunk);
    for (let from = 0; this.#errorLines && from < chunk.length;) {
      const end = chunk.indexOf(newline, from) + 1 || chunk.length;
      try {
        this.#errorLines.push(chunk.subarray(from, end));
      } catch {
        // Of a line that is too long only what comes later is told; its neighbours are told, too.
      }
      from = end;
    }
  }

  /** Tells a line to its listener, which may be an async function. */
  async #tell(onStderr: (line: string) => void, line: string): Promise<void> {
    try {
      await onStderr(redactWords(line, this.#redact));
    } catch (error) {
      const fields = { server: this.label, error };
      this.#ports.logger?.({ level: "warning", message: "The listener to standard error failed", fields });
    }
  }

  #exit(status: ExitStatus): void {
    this.#status = status;
    this.#errorLines?.end();
    this.#wake();
    void this.#exited();
  }

  async #exited(): Promise<void> {
    if (!this.#outputEnded) await this.#until(() => this.#outputEnded, outputGrace);
    if (!this.#over) this.#fail(this.#exitError("unknown"));
  }

  /** Ends the connection for a reason of its own, then the process. */
  #fail(reason: McpError): void {
    this.#reason ??= reason;
    this.#end(reason);
    this.#closing ??= this.#stop();
  }

  #end(reason?: McpError): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#noise > 1) {
      const message = `Skipped ${this.#noise} lines of output of "${this.label}" that were no messages`;
      this.#ports.logger?.({ level: "info", message, fields: { server: this.label, lines: this.#noise } });
    }
    this.#receiver?.end(reason);
  }

  /** The ladder; resolves when the process is gone. */
  async #stop(): Promise<void> {
    const child = this.#process ?? await this.#starting?.catch(() => undefined);
    if (!child) return;
    const gone = () => this.#status !== undefined;
    child.closeInput();
    await this.#until(gone, this.#closeTime);
    // A process that left others behind with its output: they too are asked before they are killed.
    if (gone() && !this.#outputEnded) await this.#until(() => this.#outputEnded, outputGrace);
    const isSlow = !gone() || !this.#outputEnded;
    if (isSlow) {
      child.kill("SIGTERM");
      await this.#until(() => gone() && this.#outputEnded, this.#closeTime);
    }
    child.kill("SIGKILL");
    await this.#until(gone, this.#closeTime);
    // Grandchildren end unheard: a moment, so that they are gone too.
    if (isSlow) await this.#until(() => false, killGrace);
  }

  /** Waits until something holds, at most so many milliseconds. */
  #until(holds: () => boolean, milliseconds: number): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        cancel();
        this.#waiting = this.#waiting.filter((other) => other !== check);
        resolve();
      };
      const check = () => {
        if (holds()) done();
      };
      // The second turn lets in what had arrived while this program was busy.
      let cancel = this.#clock.schedule(() => cancel = this.#clock.schedule(done, 0), milliseconds);
      this.#waiting.push(check);
    });
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  /** A write that failed: when the process is about to be reported as ended, that is the better reason. */
  async #writeFailed(error: unknown): Promise<never> {
    await this.#until(() => this.#status !== undefined || this.#over, outputGrace);
    if (this.#status && !this.#over) await this.#until(() => this.#over, outputGrace * 2);
    throw this.#reason ?? this.#closed("unknown", error);
  }

  /** The error of a write that comes too late or fails. */
  #closed(delivery: Delivery, cause: unknown = this.#reason): McpError {
    const { label: server } = this;
    if (this.#reason instanceof PeerExitedError || (this.#status && !this.#over)) return this.#exitError(delivery);
    const message = cause instanceof McpError ? cause.message : `The connection to "${server}" is closed`;
    return new ConnectionClosedError(message, { cause, delivery, server, retryable: true });
  }

  #exitError(delivery: Delivery): PeerExitedError {
    const { code, signal } = this.#status ?? { code: null, signal: null };
    const how = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    const said = this.#lastWords("; it wrote nothing to its standard error");
    return new PeerExitedError(
      `"${this.label}" ${how}${this.#heard ? "" : ` before it answered anything${said}`}`,
      { exitCode: code, signal, stderr: this.#shownStderr, server: this.label, delivery, retryable: true },
    );
  }

  /** Its end; of a program that ended before it served, where usage often follows what was wrong, the beginning too. */
  get #shownStderr(): string {
    const said = this.stderr().trim();
    if (said.length <= shownStderr || this.#heard || said.length > keptStderr / 2) return said.slice(-shownStderr);
    const half = shownStderr / 2;
    return `${said.slice(0, half - 3).trimEnd()}\n…\n${said.slice(-half)}`;
  }

  /** What it wrote last to its standard error, as the end of a message, or what to say where that is nothing. */
  #lastWords(none: string): string {
    const stderr = this.#shownStderr;
    return stderr === "" ? none : `; its standard error ${stderr.includes("\n…\n") ? "says" : "ends with"}:\n${stderr}`;
  }
}
