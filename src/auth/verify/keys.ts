/**
 * The keys of an authorization server: fetched when they are needed, kept for a while, and fetched again when a token
 * names one that is not among them.
 *
 * @module
 */
import type { GuardedFetch } from "../../egress/guarded_fetch.ts";
import type { Clock } from "../../ports.ts";
import { ConnectError, type McpError, TimeoutError } from "../../protocol/errors.ts";
import { isObject } from "../../protocol/json_rpc.ts";
import { parseObject } from "../parse.ts";

/** The most keys that a document may hold. */
const mostKeys = 100;
/** How long keys are used before they are looked at again, in milliseconds. */
const freshTime = 600_000;
/** How long they are used at most, where the server cannot be reached. */
const longestUse = 3_600_000;
/** Between two fetches that tokens with unknown keys bring about. */
const rotationPause = 30_000;
/** After a fetch that failed, until the next. */
const failurePause = 5_000;
/**
 * How long callers wait for somebody else's fetch, before one of them begins another: it may belong to a request that a
 * Worker has ended together with all that it awaited.
 */
const patience = 1_000;

/** A public key (RFC 7517). */
export type Key = Readonly<Record<string, unknown>>;

/** What keys need. */
export interface KeysOptions {
  /** Fetches one document; bounded in length and time. */
  readonly fetch: GuardedFetch;
  /** Says where the keys are. */
  readonly locate: (signal: AbortSignal) => Promise<string>;
  /** How long all of it may take, in milliseconds. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** Keys as they came at one time. */
export interface KeySet {
  readonly keys: readonly Key[];
  /** When they came, on the clock that only grows. */
  readonly at: number;
}

/** A fetch under way. */
interface Flight {
  readonly at: number;
  readonly result: Promise<KeySet>;
}

/** Keeps the keys of one server. */
export class Keys {
  readonly #options: KeysOptions;
  #set: KeySet | undefined;
  #flight: Flight | undefined;
  /** When the first of the fetches began that none has ended since. */
  #silentSince = 0;
  #triedAt = -Infinity;
  #failure: McpError | undefined;

  constructor(options: KeysOptions) {
    this.#options = options;
  }

  /**
   * The keys.
   *
   * @param unknown The set that a token's key is not in: newer ones are wanted. Without newer ones the same set comes back.
   * @throws {McpError} When there are none, and none can be fetched. It may be tried again.
   */
  async get(unknown?: KeySet): Promise<KeySet> {
    const set = this.#set;
    const now = this.#options.clock.monotonic();
    const isFresh = set !== undefined && now - set.at < freshTime;
    if (isFresh && set !== unknown) return set;
    // Whose key may be among the old ones does not wait for a server that says nothing.
    const old = set && set !== unknown && now - set.at < longestUse ? set : undefined;
    const isUnderWay = this.#underWay(now) !== undefined;
    if (old && isUnderWay && now - this.#silentSince >= patience) return old;
    if (!isUnderWay && now - this.#triedAt < (this.#failure ? failurePause : rotationPause)) {
      if (set && now - set.at < longestUse) return set;
      if (this.#failure) throw this.#failure;
    }
    try {
      return await this.#wait(now, old ? patience : this.#options.timeout);
    } catch (error) {
      if (set && now - set.at < longestUse) return set;
      throw error;
    }
  }

  /** The fetch that is under way; one that should have ended long ago is none. */
  #underWay(now: number): Flight | undefined {
    return this.#flight && now - this.#flight.at < this.#options.timeout ? this.#flight : undefined;
  }

  /** Joins the fetch under way, or begins one; and again, as long as none of them ends. */
  async #wait(since: number, timeout: number): Promise<KeySet> {
    const { clock } = this.#options;
    const joined = new Set<Promise<KeySet>>();
    const before = this.#set;
    for (let now = since; now - since < timeout; now = clock.monotonic()) {
      const flight = this.#underWay(now);
      const { at, result } = flight && now - flight.at < patience ? flight : this.#begin(now);
      joined.add(result);
      const wait = Math.min(at + patience, since + timeout) - now;
      const found = await first([...joined], (callback) => clock.schedule(callback, wait));
      if (found) return found;
      // Another caller's fetch has ended in this very moment.
      if (this.#set && this.#set !== before) return this.#set;
    }
    throw failed(undefined);
  }

  #begin(now: number): Flight {
    this.#triedAt = now;
    if (!this.#underWay(now)) this.#silentSince = now;
    const flight: Flight = { at: now, result: this.#fetch() };
    this.#flight = flight;
    void flight.result.then((set) => {
      if (!this.#set || this.#set.at < set.at) this.#set = set;
      this.#ended(flight, undefined);
    }, (error: McpError) => this.#ended(flight, error));
    return flight;
  }

  #ended(flight: Flight, failure: McpError | undefined): void {
    if (this.#flight !== flight) return;
    this.#flight = undefined;
    this.#failure = failure;
  }

  async #fetch(): Promise<KeySet> {
    const { fetch, locate, timeout, clock } = this.#options;
    const controller = new AbortController();
    const stop = clock.schedule(() => controller.abort(new TimeoutError("total", timeout)), timeout);
    try {
      const { signal } = controller;
      const url = await locate(signal);
      const { status, text } = await fetch(url, {
        headers: { accept: "application/json" },
        milliseconds: timeout,
        signal,
      });
      const keys = status === 200 ? readKeys(text) : undefined;
      if (!keys) throw new Error(`The keys of the authorization server are no key set (${status})`);
      return { keys, at: clock.monotonic() };
    } catch (error) {
      throw failed(error);
    } finally {
      stop();
    }
  }
}

/**
 * What the first of them gives; undefined when none has within the time.
 *
 * @throws {McpError} When all have failed.
 */
function first(
  results: readonly Promise<KeySet>[],
  schedule: (callback: () => void) => () => void,
): Promise<KeySet | undefined> {
  return new Promise((resolve, reject) => {
    const stop = schedule(() => resolve(undefined));
    let failures = 0;
    const fail = (error: unknown): void => {
      if (++failures < results.length) return;
      stop();
      reject(error);
    };
    const succeed = (set: KeySet): void => {
      stop();
      resolve(set);
    };
    for (const result of results) void result.then(succeed, fail);
  });
}

/** The keys of a document; which of them can verify a signature, its algorithm says. */
function readKeys(text: string): Key[] | undefined {
  const keys = parseObject(text)?.keys;
  return Array.isArray(keys) ? keys.filter(isObject).slice(0, mostKeys).map(plainKey) : undefined;
}

/** An Edwards curve has one algorithm with two names (RFC 9864): runtimes know one of them each, the curve says enough. */
function plainKey(key: Key): Key {
  const { alg, ...others } = key;
  return key.crv === "Ed25519" && (alg === "EdDSA" || alg === "Ed25519") ? others : key;
}

function failed(cause: unknown): McpError {
  return new ConnectError("Cannot fetch the keys of the authorization server", { cause, retryable: true });
}
