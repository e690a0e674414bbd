/**
 * One timer for all deadlines of a session.
 *
 * @module
 */
import { ConnectionClosedError } from "../../protocol/errors.ts";
import type { McpError } from "../../protocol/errors.ts";
import type { JsonRpcMessage } from "../../protocol/json_rpc.ts";
import type { Timeouts } from "../../protocol/limits.ts";
import type { Clock } from "../../ports.ts";

/** What a call may take, in milliseconds. */
export type CallTimeouts = Pick<Timeouts, "headers" | "idle" | "total">;

/** A place in the ring of all that waits: a set would cost several times as much per call. */
export interface Waiting {
  before: Waiting;
  after: Waiting;
}

/** Whatever can run out of time. */
export interface Expiring extends Waiting {
  /** Undefined until it is sent. */
  readonly id: number | undefined;
  /** By the monotonic clock; Infinity for streams that stay open. */
  readonly expiresAt: number;
  /** That its user was done with a page, while it was under way. */
  visited?: boolean | undefined;
  /** Ends if its time is over by `now`. It may have got more by then: see {@linkcode Deadlines.held}. */
  expire(now: number): void;
  /** A sign of life. */
  touch(): void;
  /** Takes what belongs to it. */
  message(message: JsonRpcMessage): void;
  /** Nothing will come any more. */
  end(reason: McpError): void;
}

/**
 * One timer for all deadlines of a session. It wakes at most once a second while something waits, and keeps no process
 * alive for longer than that second once nothing does.
 */
export class Deadlines {
  declare readonly clock: Clock;
  /** What a call may take where it says nothing itself. */
  declare readonly usual: CallTimeouts;
  /** How much is in work that the other side waits for: meanwhile no idle time runs out. */
  held = 0;
  readonly #ring: Waiting;
  #stop: (() => void) | undefined;
  #wakesAt = Infinity;

  constructor(clock: Clock, usual: CallTimeouts) {
    this.clock = clock;
    this.usual = usual;
    const ring = {} as Waiting;
    this.#ring = ring.before = ring.after = ring;
  }

  /** @param now By the monotonic clock. */
  add(item: Expiring, now: number): void {
    const ring = this.#ring;
    item.before = ring.before;
    item.after = ring;
    ring.before = ring.before.after = item;
    if (item.expiresAt < this.#wakesAt) this.arm(item, now);
  }

  /** Takes out what was added, once. It lets go of its neighbours: V8 would keep them as long as it, and theirs after them. */
  delete(item: Expiring): void {
    item.before.after = item.after;
    item.after.before = item.before;
    item.before = item.after = item;
  }

  /** Stops the timer and ends all that waits; for the end of a session. */
  stop(): void {
    this.#stop?.();
    this.#wakesAt = Infinity;
    for (const item of this.all()) item.end(new ConnectionClosedError("The session is closed"));
  }

  /** Those that wait now, however many of them end meanwhile. */
  all(): Expiring[] {
    const all: Expiring[] = [];
    for (let at = this.#ring; (at = at.after) !== this.#ring;) all.push(at as Expiring);
    return all;
  }

  /** For what ends before it would wake. What has no end has no timer either. */
  protected arm({ expiresAt }: Expiring, now: number): void {
    const slice = 1_000;
    this.#stop?.();
    this.#wakesAt = Math.min(expiresAt, now + slice);
    // The second turn lets in what had arrived while this program stood still.
    this.#stop = this.clock.schedule(
      () => this.#stop = this.clock.schedule(() => this.#wake(), 0),
      this.#wakesAt - now,
    );
  }

  #wake(): void {
    this.#wakesAt = Infinity;
    const now = this.clock.monotonic();
    for (const item of this.all()) item.expire(now);
    for (const item of this.all()) if (item.expiresAt < this.#wakesAt) this.arm(item, now);
  }
}
