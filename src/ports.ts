/**
 * What the house asks of the world. Every effect (network, processes, time, chance, storage) enters through one of
 * these types, as an option; nothing here is filled in by reading a global at import time.
 *
 * @module
 */

/** Sends one HTTP request. The global `fetch` fits; so does a service binding's `fetch`. Redirects are asked for as `manual`. */
export interface Fetch {
  (url: string, init: RequestInit): Promise<Response>;
  /** False: it calls requests off by other means, and gets no signal. */
  readonly signal?: false | undefined;
  /** True: it never sends a text a second time by itself, where its runtime would. */
  readonly once?: true | undefined;
}

/** Time, as a port: tests drive it by hand, so that no test sleeps. */
export interface Clock {
  /** Milliseconds since 1970, for what is stored or compared with another machine's time. */
  now(): number;
  /** Milliseconds that only ever grow, for deadlines and back-off. */
  monotonic(): number;
  /**
   * Calls `callback` once after `milliseconds` (clamped to 0…2³¹−1) and returns a function that calls it off.
   * `background` timers keep no process alive, where the runtime can do that.
   */
  schedule(callback: () => void, milliseconds: number, options?: { background?: boolean }): () => void;
}

/** Chance, as a port. */
export interface Random {
  /** A number in [0, 1), for jitter. */
  fraction(): number;
  /** `count` unguessable bytes, for ids. */
  bytes(count: number): Uint8Array;
}

/** How a process ended. Exactly one of the two is set where the runtime tells. */
export interface ExitStatus {
  /** The exit code, or null when a signal ended it. */
  readonly code: number | null;
  /** The signal's name (`"SIGKILL"`), or null. */
  readonly signal: string | null;
}

/** A program to start: an argument vector, never a shell line. */
export interface SpawnCommand {
  /** The program: a path, or a name that is looked for on the child's PATH. */
  readonly command: string;
  /** What it is given, one element an argument: no shell reads them. */
  readonly args: readonly string[];
  /** The whole environment of the child: nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>;
  /** The folder it starts in. Default: the folder of this process. */
  readonly cwd?: string | undefined;
}

/** What a child tells. The adapter attaches its readers in the tick in which it starts the child. */
export interface ProcessEvents {
  /**
   * Bytes of the standard output. A returned promise holds the next read back. Afterwards the adapter may take their
   * memory back: what is to stay has to be copied.
   */
  output(chunk: Uint8Array): void | Promise<void>;
  /** The standard output has ended; nothing more will come. Called once, also when it breaks. */
  outputEnd(): void;
  /** Bytes of the standard error. */
  errorOutput(chunk: Uint8Array): void;
  /** The process itself has ended (its pipes may still be held open by its children). Called once. */
  exit(status: ExitStatus): void;
}

/** A running child, leader of its own process group where the system has groups. */
export interface SpawnedProcess {
  /** The system's number for the child, which names its group too. */
  readonly pid: number;
  /**
   * Writes to the standard input. Rejects (or throws) once the process has ended or its input is closed,
   * also on runtimes that would silently accept it. Resolves when there is room for more.
   */
  write(text: string): void | Promise<void>;
  /** Closes the standard input; harmless when it is closed already. */
  closeInput(): void;
  /** Sends a signal to the whole process group; harmless when it has ended. */
  kill(signal: "SIGTERM" | "SIGKILL"): void;
  /** Whether the process has ended, or has let go of all its output: `exit` is about to be told. Default: nobody knows. */
  isEnding?(): boolean;
}

/**
 * Starts a child process. Rejects with a `SpawnError` when it cannot be started (no such file, no permission, bad folder).
 */
export type Spawn = (command: SpawnCommand, events: ProcessEvents) => Promise<SpawnedProcess>;

/** The standard streams of this very process, for a server that a client has started. */
export interface StandardStreams {
  /**
   * Starts reading the standard input. `input` gets its bytes, which may be used for something else afterwards; `end` is
   * called once: the input has ended, or one of the streams broke, with the reason.
   */
  open(input: (chunk: Uint8Array) => void, end: (reason?: unknown) => void): void;
  /** Writes to the standard output. Rejects (or throws) once it is broken. Resolves when there is room for more. */
  write(text: string): void | Promise<void>;
  /** Lets go of both, so that they keep the process alive no longer. Idempotent. */
  close(): void;
}

/** The part of a web-standard WebSocket that is used. */
export interface WebSocketLike {
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** The subprotocol that the server chose; empty when it chose none. */
  readonly protocol: string;
  /** Bytes that were sent and have not left yet, where the runtime counts them. */
  readonly bufferedAmount?: number;
  /** As what binary frames arrive (`blob` or `arraybuffer`): left alone, since the protocol has text frames only. */
  binaryType?: string;
  /** Sends one text frame. */
  send(data: string): void;
  /** Says goodbye; `code` is 1000 or 3000 to 4999, `reason` has at most 123 bytes. */
  close(code?: number, reason?: string): void;
  /** Tells of `message`, `close` and `error` events. */
  addEventListener(type: string, listener: (event: WebSocketEvent) => void): void;
}

/** The fields of message, close and error events that are read. */
export interface WebSocketEvent {
  /** `message`: the frame; text, when the peer keeps to the protocol. */
  readonly data?: unknown;
  /** `close`: why, as a number (RFC 6455, section 7.4). */
  readonly code?: number;
  /** `close`: why, in the peer's words. */
  readonly reason?: string;
  /** `error`: what went wrong, where the runtime tells. */
  readonly message?: string;
}

/** Opens a WebSocket; resolves when it is open, rejects when it cannot be opened, also when the runtime cannot send the `headers`. */
export type OpenWebSocket = (
  url: string,
  options: { protocols: string[]; headers?: Record<string, string> | undefined; signal?: AbortSignal | undefined },
) => Promise<WebSocketLike>;

/** Resolves a host name to IP addresses (text form, IPv4 and IPv6), so that they can be judged before a connection is made. */
export type Resolve = (hostname: string) => Promise<string[]>;

/** A place for text by key: memory, a file, Workers KV, a Durable Object. */
export interface Store {
  /** The text that is kept under a key, or undefined. */
  get(key: string): Promise<string | undefined>;
  /** Keeps a text, in the place of the one before. */
  set(key: string, value: string): Promise<void>;
  /** Forgets a key; harmless when there is nothing under it. */
  delete(key: string): Promise<void>;
  /**
   * Keeps `value` (undefined: forgets the key) if what is kept is still `expected` (undefined: nothing), in one step that no
   * other process can come between. Resolves to whether it did. A store that cannot do that leaves it out.
   */
  compareAndSet?(key: string, expected: string | undefined, value: string | undefined): Promise<boolean>;
}

/** What a cell of a database holds. */
export type SqlValue = string | number | null | Uint8Array;

/** One row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * Encryption that answers at once. WebCrypto lets one wait, and what is done within a transaction of a database cannot.
 */
export interface SqlCipher {
  /** Makes a key of 32 bytes of a secret, good for one purpose (HKDF-SHA-256). */
  derive(secret: Uint8Array, salt: Uint8Array, purpose: string): Uint8Array;
  /**
   * Seals bytes (AES-256-GCM): the nonce, what they became, and the tag.
   *
   * @param nonce 12 bytes that were never used with this key.
   * @param what `bound` is what the bytes belong to: they open with that alone.
   */
  seal(key: Uint8Array, nonce: Uint8Array, what: { plain: Uint8Array; bound: string }): Uint8Array;
  /** Opens what `seal` made. Undefined: it was sealed with another key, belongs to something else, or was changed. */
  open(key: Uint8Array, sealed: Uint8Array, bound: string): Uint8Array | undefined;
}

/** An SQLite database that answers at once: a file, the storage of a Durable Object, memory. */
export interface SqlDatabase {
  /** The rows that a statement gives. Parameters stand where it has a `?`. */
  all(sql: string, ...parameters: readonly SqlValue[]): readonly SqlRow[];
  /** Runs a statement that gives nothing. */
  run(sql: string, ...parameters: readonly SqlValue[]): void;
  /**
   * Does all of it or, when it throws, nothing. One within another belongs to the outer one.
   *
   * @param work What it does, at once: it may give no promise.
   */
  transaction<Value>(work: () => Value): Value;
  /** Resolves when what was written would outlive the machine's loss of power. A database that writes before it answers leaves it out. */
  sync?(): Promise<void>;
  /** What its rows can be encrypted with; undefined where the runtime has nothing that answers at once. */
  readonly cipher?: SqlCipher | undefined;
  /** Lets go of it. Idempotent. */
  close?(): void;
}

/** Puts credentials on the requests to one server: the `auth` of `connect`. */
export interface Authorizer {
  /**
   * Wraps what sends requests to a server, so that they carry credentials and its challenges are answered.
   *
   * @param fetch What sends.
   * @param server The URL that the operator gave. Credentials go to its origin alone.
   */
  wrap(fetch: Fetch, server: string): Fetch;
  /** Takes its secrets out of a text. */
  redact(text: string): string;
  /** Is given what resolves names, where the runtime has it: what a server names is judged by its addresses too. */
  resolveWith?(resolve: Resolve): void;
  /** The sign-in to a server that is under way: a person takes longer for it than a call may. */
  underWay?(server: string, signal?: AbortSignal | null): Promise<unknown> | undefined;
  /** The headers with which a WebSocket to the server is opened, where the runtime can send some. */
  headers?(server: string, signal?: AbortSignal): Promise<Record<string, string>>;
}

/** What a bearer token was found to say. Every field comes from the token's issuer, none from the request beside it. */
export interface TokenClaims {
  /** Whom the token stands for (`sub`). */
  readonly subject: string;
  /** Who issued it (`iss`): one of the resource's `authorizationServers`. */
  readonly issuer?: string | undefined;
  /** What it is meant for (`aud`): URLs of resources, or names that the issuer gave them. */
  readonly audience?: string | readonly string[] | undefined;
  /** What it allows, by name (`scope`). */
  readonly scopes?: readonly string[] | undefined;
  /** The program that it was issued to (`client_id`). */
  readonly clientId?: string | undefined;
  /** When it ends, in milliseconds since 1970 (`exp` times 1,000). */
  readonly expiresAt?: number | undefined;
  /** What else is known: it reaches handlers as `auth.extra`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Verifies a bearer token. Undefined: it is not valid (unknown, forged, withdrawn). What it throws means that nothing could
 * be found out: the caller is not let in, and may try again when the error is a retryable `McpError`.
 */
export type VerifyToken = (
  token: string,
  request: Request,
) => TokenClaims | undefined | Promise<TokenClaims | undefined>;

/** One line for the operator's log. `fields` are already redacted. */
export interface LogRecord {
  /** How serious it is. */
  readonly level: "debug" | "info" | "warning" | "error";
  /** What happened, in one sentence without values that change. */
  readonly message: string;
  /** The values that belong to it, by name. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Takes log lines; must not throw. */
export type Logger = (record: LogRecord) => void;

const longestTimer = 2 ** 31 - 1;

/** The runtime's own clock: `Date.now`, `performance.now` and `setTimeout`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(callback, milliseconds, options) {
    const timer = setTimeout(callback, Math.min(milliseconds, longestTimer));
    // Node, Bun and newer versions of Deno give an object here, the others a number.
    if (options?.background) (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer);
  },
};

/**
 * The same clock, whose timers let in what had arrived while the program stood still (a machine that slept, long work of the program's
 * own) before they end anything: what is long is read over several turns, and what is compressed is unpacked by another thread.
 */
export function patientClock(clock: Clock): Clock {
  // Milliseconds.
  const standstill = 100;
  const grace = 25;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    schedule(callback, milliseconds, options) {
      const due = clock.monotonic() + Math.max(milliseconds, 0);
      let stop = clock.schedule(
        () => {
          if (clock.monotonic() - due < standstill) return callback();
          // Once alone: a program that is late all the time has deadlines, too.
          stop = clock.schedule(callback, grace, options);
        },
        milliseconds,
        options,
      );
      return () => stop();
    },
  };
}

/** Bytes in hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  const native = (bytes as { toHex?(): string }).toHex?.();
  if (native !== undefined) return native;
  let text = "";
  for (const byte of bytes) text += (byte + 256).toString(16).slice(1);
  return text;
}

/** So many unguessable bytes in hexadecimal digits. */
export function randomHex(random: Random, bytes: number): string {
  return toHex(random.bytes(bytes));
}

/** The runtime's own randomness: `Math.random` for jitter, `crypto.getRandomValues` for ids. */
export const systemRandom: Random = {
  fraction: () => Math.random(),
  bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
};
