/**
 * From a server's config to its client, once or again.
 *
 * @module
 */
import { unlessAborted } from "../../client/core_client.ts";
import type { Client } from "../../client/client.ts";
import type { Verdict } from "../../client/negotiate.ts";
import type { RequestOptions } from "../../client/session/request.ts";
import { isSnapshot } from "../../client/snapshot.ts";
import { RpcError } from "../../protocol/errors.ts";
import type { Authorizer } from "../../ports.ts";
import type { CatalogServer, RemoteServer, ServerConfig } from "../seam.ts";
import type { Breaker } from "./breaker.ts";
import type { ConnectionHost } from "./host.ts";
import { argumentsOf } from "./settings.ts";

/** What clients of one server are made of. */
export interface OpenerParts {
  readonly name: string;
  readonly config: ServerConfig;
  readonly isPipe: boolean;
  /** Milliseconds that opening may take. */
  readonly timeout: number;
  /** Lists what the server has. */
  list(client: Client, timeout: number): Promise<void>;
  /** Hears that a stream of changes has broken. */
  ended(reason: unknown): void;
  /** Says whether a request that failed may be sent again. */
  readonly breaker: Breaker;
}

/** How long it may be opened. */
export interface Opening {
  readonly signal: AbortSignal;
  /** Waits for a place among those that connect: none of its time. */
  wait(place: Promise<void>): Promise<void>;
}

/** Opens the clients of one server. */
export class Opener {
  /** What the last client came to; nothing where it came too late. */
  left: Promise<Client | void> | undefined;
  readonly #parts: OpenerParts;
  readonly #host: ConnectionHost;
  #isOpening: boolean | undefined;
  #verdict: Verdict | undefined;
  #auth: Authorizer | undefined;

  constructor(parts: OpenerParts, host: ConnectionHost) {
    this.#parts = parts;
    this.#host = host;
  }

  /** Told to clients, each time that a request failed: while one connects, trying again is up to the hub. */
  get attempts(): number | undefined {
    const { config, breaker } = this.#parts;
    return this.#isOpening || !breaker.mayRepeat() ? 1 : (config.retry ?? this.#host.shared.retry)?.attempts;
  }

  /**
   * Makes a client, or asks whether the server of the one that there is has come back.
   *
   * @param known What is known of the server: it is listed where that is nothing.
   */
  async open(client: Client | undefined, known: CatalogServer, { signal, wait }: Opening): Promise<Client> {
    const { connecting, clock } = this.#host;
    const { timeout, isPipe, breaker } = this.#parts;
    let endsAt = clock.monotonic() + timeout;
    const left = (): number => endsAt - clock.monotonic();
    // A client that does not come to its end takes no place of the others.
    await this.left;
    signal.throwIfAborted();
    if (!connecting.take()) {
      await wait(connecting.wait({ milliseconds: Infinity, signal }));
      endsAt = clock.monotonic() + timeout;
    }
    try {
      this.#isOpening = true;
      if (client) await prove(client, isPipe, breaker.isDoubtful, { signal, timeout: left() });
      return client ?? await unlessAborted(this.#connect(known, signal, left), signal);
    } finally {
      this.#isOpening = false;
      connecting.release();
    }
  }

  /** The sign-in that a person is at. */
  underWay(): Promise<unknown> | undefined {
    const { url } = this.#parts.config as Partial<Record<"url", unknown>>;
    return this.#auth?.underWay?.(String(url));
  }

  /** One that comes too late is closed again. */
  #connect(known: CatalogServer, signal: AbortSignal, left: () => number): Promise<Client> {
    const { name, config, list, ended } = this.#parts;
    const { connect, shared, emit, auth } = this.#host;
    const remote = config as RemoteServer;
    this.#auth = remote.url ? remote.auth ?? auth(name) : undefined;
    const [target, options] = argumentsOf({
      name,
      config,
      shared,
      known,
      ended,
      verdict: this.#verdict ?? known.snapshot?.verdict,
      auth: this.#auth,
      log: ({ level, data }) => emit({ type: "log", server: name, level, data }),
    });
    const opened = connect(target, { ...options, retry: this, signal }).then(async (client) => {
      try {
        signal.throwIfAborted();
        if (!known.listedAt || !isSnapshot(target)) await list(client, left());
        signal.throwIfAborted();
        return client;
      } catch (error) {
        // What it speaks need not be found out again.
        this.#verdict = client.verdict;
        await client.close();
        throw error;
      }
    });
    this.left = opened.catch(() => {});
    return opened;
  }
}

/**
 * Asks whether a server is there. Whatever it says of `ping`, it is; an older one whose pipe has ended has to greet us first.
 *
 * @param isDoubtful An answer is wanted also where the pipe has not ended.
 */
async function prove(client: Client, isPipe: boolean, isDoubtful: boolean, options: RequestOptions): Promise<void> {
  const greets = isPipe && client.era === "legacy";
  if (greets) await client.connect(options);
  if (!greets || isDoubtful) {
    await client.ping(options).catch((error) => {
      if (!(error instanceof RpcError)) throw error;
    });
  }
}
