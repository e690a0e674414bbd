/**
 * The ports filled with Deno's own means. Starting programs needs `--allow-run`, the environment `--allow-env`.
 *
 * @module
 */
import process from "node:process";
import { patientClock, systemClock } from "../ports.ts";
import type { Clock, Fetch, Resolve, Spawn } from "../ports.ts";
import { ConnectError, ConnectionClosedError } from "../protocol/errors.ts";
import { ChildBooks, platform, pump, spawnFailure, spawnPlan, systemResolve } from "./children/child.ts";
import { inheritedNames, safeEnvironment } from "./children/environment.ts";
import { nodeSpawn } from "./children/node_spawn.ts";
import { readHeaders } from "./headers.ts";

export { openWebSocketWithHeaders as openWebSocket } from "./sockets/headed_web_socket.ts";

/** A child as `Deno.Command` gives it. */
interface DenoChild {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly status: Promise<{ readonly code: number; readonly signal: string | null }>;
}

/** The part of Deno's global that is used, so that other tools need no types of Deno. */
declare const Deno: {
  unrefTimer(timer: unknown): void;
  readonly Command: new (command: string, options: {
    args: string[];
    env: Record<string, string>;
    clearEnv: boolean;
    cwd?: string;
    stdin: "piped";
    stdout: "piped";
    stderr: "piped";
    detached: boolean;
    windowsRawArguments: boolean;
  }) => { spawn(): DenoChild };
  readonly env: { get(name: string): string | undefined };
  readonly permissions: { querySync(of: { name: "env"; variable: string }): { state: string } };
};

/**
 * Starts a child as leader of its own process group: by `node:child_process`, whose pipes cost a third less, where that
 * does the same as `Deno.Command`.
 *
 * @throws {SpawnError} When it cannot be started.
 */
export const denoSpawn: Spawn = (command, events) =>
  suitsNode(command.command) ? nodeSpawn(command, events) : commandSpawn(command, events);

/**
 * Deno's `node:child_process` wants to read a variable beside `--allow-run`, and it rewrites the arguments of Deno itself
 * as if they were Node's: what is run with few permissions would be run with all.
 */
function suitsNode(program: string): boolean {
  return platform === "posix" && !/(^|\/)deno[^/]*$/i.test(program) && program !== process.execPath &&
    Deno.permissions.querySync({ name: "env", variable: "NODE_V8_COVERAGE" }).state === "granted";
}

/** Starts a child by `Deno.Command`. */
export const commandSpawn: Spawn = async (command, events) => {
  let child: DenoChild;
  try {
    const plan = await spawnPlan(command);
    child = new Deno.Command(plan.command, {
      args: [...plan.args],
      env: { ...command.env },
      clearEnv: true,
      ...(command.cwd === undefined ? {} : { cwd: command.cwd }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: platform === "posix",
      windowsRawArguments: plan.verbatim,
    }).spawn();
  } catch (error) {
    throw await spawnFailure(command, error);
  }
  const stopOutput = pump(child.stdout, (chunk) => events.output(chunk), () => books.outputEnd());
  const stopErrors = pump(child.stderr, (chunk) => events.errorOutput(chunk), () => books.errorEnd());
  const input = child.stdin.getWriter();
  input.closed.catch(() => {});
  const encoder = new TextEncoder();
  let inputClosed = false;
  const closeInput = () => {
    if (inputClosed) return;
    inputClosed = true;
    input.close().catch(() => {});
  };
  const books = new ChildBooks(child.pid, command.command, events, (isInput) => {
    if (isInput) return inputClosed = true, void input.abort().catch(() => {});
    stopOutput();
    stopErrors();
  });
  // Deno also gives a code (128 + n) for a signal.
  void child.status.then(({ code, signal }) => books.exit({ code: signal === null ? code : null, signal }));
  return {
    pid: child.pid,
    write(text) {
      if (books.ended || inputClosed) throw books.writeError();
      return books.follow(input.write(encoder.encode(text)));
    },
    closeInput,
    kill: (signal) => books.kill(signal),
    isEnding: () => books.isEnding,
  };
};

/** The environment that a child of this process may have, with `extra` over it. A variable that Deno may not read is left out. */
export function baseEnvironment(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const readable: Record<string, string | undefined> = {};
  for (const name of inheritedNames[platform]) {
    try {
      readable[name] = Deno.env.get(name);
    } catch {
      // Not allowed by --allow-env: the child does without.
    }
  }
  return safeEnvironment(platform, readable, extra);
}

const encoder = new TextEncoder();

/**
 * A text that Deno's fetch sends once: as a stream whose length is known, which is what only a Blob can say. A Blob of its
 * own would cost three times as much, since its bytes are kept outside of the heap and read back bit by bit.
 */
class OnceBody extends Blob {
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(text: string) {
    super();
    this.#bytes = encoder.encode(text);
  }

  override get size(): number {
    return this.#bytes.length;
  }

  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return new ReadableStream({
      start: (controller) => {
        controller.enqueue(this.#bytes);
        controller.close();
      },
    });
  }
}

/**
 * Deno's `fetch`, with a failed connection told by class, and each text sent once. Deno gives such an error no code: that
 * it begins with `client error (Connect)` is the only name it has for "nothing was sent".
 */
export const denoFetch: Fetch = Object.assign(
  (url: string, init: RequestInit): Promise<Response> => {
    const { body } = init;
    return fetch(url, typeof body === "string" ? { ...init, body: new OnceBody(body) } : init).catch((error) => {
      // Of a header that cannot be sent it would tell the value.
      readHeaders(init.headers);
      // The reason of an abort says nothing of this request, also where another one failed with it.
      throw init.signal?.aborted ? error : connectError(url, error) ?? turnedAway(url, error) ?? error;
    });
  },
  { once: true as const },
);

function connectError(url: string, error: unknown): ConnectError | undefined {
  const told = error as Error & { readonly cause?: Error };
  // Before 2.9 it stands in its own message, behind the URL, which has no spaces.
  const { message = "" } = told.cause ?? told;
  const [, reason] = /client error \(Connect\): (.*)/s.exec(message) ?? [];
  const untrusted = reason !== undefined && /certificate/.test(reason);
  const why = told.name === "NotCapable"
    ? "this process may not connect there; run Deno with --allow-net"
    : reason ?? /requests to port \d+ are blocked/i.exec(message)?.[0];
  if (why === undefined) return undefined;
  return new ConnectError(`Cannot connect to "${new URL(url).origin}": ${why}`, {
    cause: error,
    retryable: reason !== undefined && !untrusted,
  });
}

/**
 * What an HTTP/2 server says of requests that it has not looked at: it takes no more of them on this connection (GOAWAY, as nginx
 * does after 1,000 and when it is told to reload), or not this one (REFUSED_STREAM). Deno itself would send a text again, once.
 */
function turnedAway(url: string, error: { readonly cause?: Error }): ConnectionClosedError | undefined {
  const words =
    /^(connection error received: not a result of an error|stream error received: refused stream before processing)/;
  if (!words.test(error.cause?.message ?? "")) return undefined;
  return new ConnectionClosedError(`"${new URL(url).origin}" took no further request on this connection`, {
    cause: error,
    delivery: "not-sent",
    retryable: true,
  });
}

/** The system's clock; its background timers keep no process alive. */
export const clock: Clock = patientClock({
  ...systemClock,
  schedule(callback, milliseconds, options) {
    if (!options?.background) return systemClock.schedule(callback, milliseconds);
    const timer = setTimeout(callback, Math.min(Math.max(milliseconds, 0), 2 ** 31 - 1));
    // A number in older versions, else an object: it does nothing with the number of one.
    Deno.unrefTimer(timer);
    return () => clearTimeout(timer);
  },
});

/** Resolves host names by the system's resolver. */
export const resolve: Resolve = systemResolve;
