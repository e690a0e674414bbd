/**
 * A stream of changes that stays open: `for await (const change of client.listen(...))`
 * (specification 2026-07-28: subscriptions; before: GET stream and `resources/subscribe`).
 *
 * @module
 */
import {
  ConnectError,
  ConnectionClosedError,
  HttpStatusError,
  type McpError,
  PeerExitedError,
  TimeoutError,
} from "../../protocol/errors.ts";
import type { Change, ListenFilter } from "../../protocol/types.ts";
import { Backoff } from "./backoff.ts";
import { lists } from "./change.ts";
import type { ListenSink, Subscription, SubscriptionParts } from "./seam.ts";

/** How it ended: by a failure, where there is a reason; else it was closed. */
interface Over {
  readonly reason?: unknown;
}

/**
 * Changes at a server, in the order they came. The same change twice in a row is told once. When the stream breaks it is
 * opened again, calmly; what may have been missed meanwhile is told as a change with `missed: true`.
 *
 * It ends when it is closed, when its signal is aborted, or when the server ends it gracefully. It throws when the server
 * refuses it or cannot be reached any more.
 */
export class ChangeSubscription implements Subscription {
  /** What the server really sends, told when the stream is first open. */
  declare readonly acknowledged: Promise<ListenFilter>;
  /** Resolves when it has ended, for whatever reason. */
  declare readonly ended: Promise<void>;
  readonly #parts: SubscriptionParts;
  readonly #filter: ListenFilter;
  readonly #signal: AbortSignal | undefined;
  readonly #backoff: Backoff;
  readonly #queue = new Map<string, Change>();
  #resolveEnded!: () => void;
  #opened!: (filter: ListenFilter) => void;
  #refused!: (reason: unknown) => void;
  #wasOpen: boolean | undefined;
  #waiting: ((next: Promise<IteratorResult<Change>>) => void) | undefined;
  /** What is waited for: the same for all who ask meanwhile, so that none is forgotten. */
  #next: Promise<IteratorResult<Change>> | undefined;
  #over: Over | undefined;
  #close: (() => void) | undefined;
  #try = 0;

  constructor(parts: SubscriptionParts, filter: ListenFilter, signal: AbortSignal | undefined) {
    this.#parts = parts;
    this.#filter = filter;
    this.#signal = signal;
    this.#backoff = new Backoff(parts.clock, parts.random);
    this.acknowledged = new Promise((resolve, reject) => {
      this.#opened = resolve;
      this.#refused = reject;
    });
    this.acknowledged.catch(() => {});
    this.ended = new Promise((resolve) => this.#resolveEnded = resolve);
    signal?.addEventListener("abort", this);
    if (signal?.aborted) this.handleEvent();
    else void this.#open();
  }

  /** The next change. Rejects when the stream failed for good. */
  next(): Promise<IteratorResult<Change>> {
    for (const [key, value] of this.#queue) {
      this.#queue.delete(key);
      return Promise.resolve({ done: false, value });
    }
    const over = this.#over;
    if (over) {
      this.#over = {};
      return ending(over);
    }
    return this.#next ??= new Promise((resolve) => this.#waiting = resolve);
  }

  /** Ends it, as `break` in a loop does. */
  return(): Promise<IteratorResult<Change>> {
    this.close();
    return ending({});
  }

  /** Ends it. Idempotent. */
  close(): void {
    this.#finish({});
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return this.ended;
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.#finish({ reason: this.#signal?.reason });
  }

  async #open(): Promise<void> {
    const turn = ++this.#try;
    const current = (): boolean => turn === this.#try && !this.#over;
    const sink: ListenSink = {
      open: (filter) => current() && this.#isOpen(filter),
      change: (change) => current() && this.#push(change),
      end: (reason, graceful) => current() && this.#ended(reason, graceful),
    };
    try {
      const close = await this.#parts.open(this.#filter, sink);
      if (current()) this.#close = close;
      else close();
    } catch (error) {
      sink.end(error as McpError);
    }
  }

  #isOpen(filter: ListenFilter): void {
    this.#backoff.opened();
    this.#opened(filter);
    if (this.#wasOpen) { for (const change of missed(this.#filter)) this.#push(change); }
    this.#wasOpen = true;
  }

  #push(change: Change): void {
    this.#parts.client().changed?.(change);
    const key = change.type +
      (change.type === "resource" ? change.uri : change.type === "task" ? change.task.taskId : "");
    this.#queue.delete(key);
    this.#queue.set(key, change);
    this.#tell();
  }

  #ended(reason: unknown, graceful?: boolean): void {
    this.#close = undefined;
    // What it still says counts for nothing, and what comes until it is open again is missed.
    this.#try++;
    this.#wasOpen = true;
    if (graceful) return this.close();
    const again = mayComeBack(reason) && this.#backoff.again(reason as McpError, () => void this.#open());
    if (!again) this.#finish({ reason });
    try {
      this.#parts.broke?.(reason);
    } catch {
      // Whoever tells of the end has others to tell, and something to close.
    }
  }

  #finish(over: Over): void {
    if (this.#over) return;
    this.#over = over;
    this.#resolveEnded();
    this.#try++;
    this.#signal?.removeEventListener("abort", this);
    this.#backoff.stop();
    this.#close?.();
    this.#refused(over.reason ?? new ConnectionClosedError("The subscription was closed"));
    this.#tell();
  }

  /** Tells who waits what is there now. */
  #tell(): void {
    const waiting = this.#waiting;
    this.#next = this.#waiting = undefined;
    waiting?.(this.next());
  }
}

function ending(over: Over): Promise<IteratorResult<Change>> {
  return "reason" in over ? Promise.reject(over.reason) : Promise.resolve({ done: true, value: undefined });
}

function missed(filter: ListenFilter): Change[] {
  return [
    ...lists.filter((type) => filter[type]).map((type) => ({ type, missed: true })),
    ...(filter.resourceUris ?? []).map((uri) => ({ type: "resource" as const, uri, missed: true })),
  ];
}

function mayComeBack(reason: unknown): boolean {
  return reason instanceof ConnectionClosedError || reason instanceof ConnectError ||
    reason instanceof PeerExitedError ||
    reason instanceof TimeoutError || (reason instanceof HttpStatusError && reason.retryable);
}
