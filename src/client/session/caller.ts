/**
 * Starts calls: gives each its id and deadlines, and hands it to the transport.
 *
 * @module
 */
import type { TimeoutKind } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Timeouts } from "../../protocol/limits.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Clock, Random } from "../../ports.ts";
import type { SendOptions, Transport } from "../../transport/transport.ts";
import { Call } from "./call.ts";
import type { CallHost, CallTimeouts } from "./call.ts";
import { Deadlines } from "./deadlines.ts";

/** What a caller may say about one request. */
export interface RequestOptions {
  /** Calls the request off: it rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole request: stands for all of `timeouts.headers`, `timeouts.idle` and `timeouts.total`. */
  timeout?: number | undefined;
  /** Milliseconds, one by one. */
  timeouts?: Partial<CallTimeouts> | undefined;
  /** Called for each sign of progress, at most 1,000 times a second. Progress extends the idle time in any case. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Your word that doing it twice is the same as doing it once: then it may be sent again after a failure. */
  idempotent?: boolean | undefined;
  /** Further `_meta` of the request. */
  meta?: JsonObject | undefined;
  /** Further headers of the request; bindings without headers ignore them. */
  headers?: Record<string, string> | undefined;
}

/** The whole life of one public request, over all its rounds and attempts. */
export interface RequestClock {
  readonly timeouts: CallTimeouts;
  /** When it is over, by the monotonic clock. */
  readonly totalAt: number;
  /** What to call the clock that ran out, where one number stands for all. */
  readonly named: TimeoutKind | undefined;
}

/** What one round needs beside its method and parameters. */
export interface RoundOptions {
  host: CallHost;
  request: RequestOptions;
  clock: RequestClock;
  send?: SendOptions | undefined;
}

/** Makes calls on one transport. */
export class Caller {
  readonly transport: Transport;
  readonly timers: Deadlines;
  readonly timeouts: Timeouts;
  readonly #prefix: string;
  #count = 0;

  constructor(transport: Transport, parts: { clock: Clock; random: Random; timeouts: Timeouts }) {
    this.transport = transport;
    this.timers = new Deadlines(parts.clock);
    this.timeouts = parts.timeouts;
    this.#prefix = unguessable(parts.random.bytes(8));
  }

  /** Starts the clock of one public request. */
  startClock(options: RequestOptions & { named?: TimeoutKind }): RequestClock {
    const { timeout, timeouts: given } = options;
    const all = timeout !== undefined && { headers: timeout, idle: timeout, total: timeout };
    const timeouts = all || given ? { ...this.timeouts, ...all, ...given } : this.timeouts;
    return {
      timeouts,
      totalAt: this.timers.now() + timeouts.total,
      named: options.named ?? (all ? "call" : undefined),
    };
  }

  /** A fresh id: unguessable in front, counted behind. Never used twice. */
  nextId(): string {
    return this.#prefix + ++this.#count;
  }

  /**
   * Sends one request and gives its call. `params` are sent as they are; `id` has to be a fresh one.
   */
  start(id: string, method: string, params: JsonObject, round: RoundOptions): Call {
    const call = this.#call(id, method, round);
    try {
      call.started(this.transport.send({ jsonrpc: "2.0", id, method, params }, call, round.send));
    } catch (error) {
      // What is no JSON cannot be sent.
      call.abort(error);
    }
    return call;
  }

  /** Waits for `work`, but no longer than the request lives, and gives up with its caller. */
  wait(work: Promise<JsonObject | void>, request: RequestOptions, clock: RequestClock): Promise<JsonObject> {
    const { total } = clock.timeouts;
    return this.#call("", "", {
      host: deaf,
      request,
      clock: { ...clock, timeouts: { headers: total, idle: total, total } },
    })
      .follow(work).result;
  }

  #call(id: string, method: string, { host, request, clock }: RoundOptions): Call {
    return new Call(id, method, {
      host,
      timers: this.timers,
      timeouts: clock.timeouts,
      totalAt: clock.totalAt,
      named: clock.named,
      firstWait: this.transport.kind === "http" ? "headers" : "idle",
      signal: request.signal,
      onProgress: request.onProgress,
    });
  }
}

const deaf: CallHost = { notified() {}, requested() {} };

/** About eleven letters and digits, and a dash. */
function unguessable(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\W/g, "") + "-";
}
