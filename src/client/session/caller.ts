/**
 * Starts calls: gives each its id and deadlines, and hands it to the transport.
 *
 * @module
 */
import { TimeoutError } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json_rpc.ts";
import type { Timeouts } from "../../protocol/limits.ts";
import type { Progress } from "../../protocol/types.ts";
import type { Clock, Random } from "../../ports.ts";
import type { SendOptions, Transport } from "../../transport/transport.ts";
import { Call } from "./call.ts";
import type { CallHost, CallTimeouts } from "./call.ts";
import { Deadlines } from "./deadlines.ts";
import type { Expiring } from "./deadlines.ts";

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
  startClock(options: RequestOptions): RequestClock {
    const { timeout } = options;
    const timeouts = timeout === undefined && !options.timeouts ? this.timeouts : {
      ...this.timeouts,
      ...(timeout === undefined ? {} : { headers: timeout, idle: timeout, total: timeout }),
      ...options.timeouts,
    };
    return { timeouts, totalAt: this.timers.now() + timeouts.total };
  }

  /** A fresh id: unguessable in front, counted behind. Never used twice. */
  nextId(): string {
    return this.#prefix + ++this.#count;
  }

  /**
   * Sends one request and gives its call. `params` are sent as they are; `id` has to be a fresh one.
   */
  start(id: string, method: string, params: JsonObject, round: RoundOptions): Call {
    const { request, clock } = round;
    const call = new Call(id, method, {
      host: round.host,
      timers: this.timers,
      timeouts: clock.timeouts,
      totalAt: clock.totalAt,
      firstWait: this.transport.kind === "http" ? "headers" : "idle",
      signal: request.signal,
      onProgress: request.onProgress,
    });
    call.started(this.transport.send({ jsonrpc: "2.0", id, method, params }, call, round.send));
    return call;
  }

  /** Waits for `work`, but no longer than the request lives. `expire` is told when the time is over or the caller gave up. */
  within<Value>(work: Promise<Value>, request: RequestOptions, clock: RequestClock): Promise<Value> {
    const { timers } = this;
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const finish = (): void => {
        timers.delete(waiting);
        signal?.removeEventListener("abort", aborted);
      };
      const aborted = (): void => {
        finish();
        reject(signal?.reason);
      };
      const waiting: Expiring = {
        expiresAt: clock.totalAt,
        expire: () => {
          finish();
          reject(new TimeoutError("total", clock.timeouts.total));
        },
      };
      timers.add(waiting);
      signal?.addEventListener("abort", aborted);
      work.then(resolve, reject).finally(finish);
      if (signal?.aborted) aborted();
    });
  }
}

/** Eleven URL-safe characters and a dash. */
function unguessable(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "") + "-";
}
