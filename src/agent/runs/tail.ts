/**
 * The events of a run as they come: read from where they are kept, woken by who keeps them.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";
import type { RunEvent } from "./seam.ts";
import { isEnd, type KeptEvent, readEvents } from "./tables/events.ts";
import { findRun } from "./tables/runs.ts";
import type { RunsDatabase } from "./tables/sealing.ts";

/** What a tail works with. */
export interface TailOptions {
  readonly database: RunsDatabase;
  readonly clock: Clock;
  readonly wakers: Wakers;
  /** Whether nobody else writes to the run: then there is no need to look again and again. */
  isHere(id: string): boolean;
}

/** Events that are read at once: each reader holds so many, whatever they weigh. */
const page = 16;
/** Characters of events after which others have their turn: who takes each at once would be given all of them in one go. */
const stretch = 65_536;
/** How often a run is looked at that another process has, in milliseconds: less often while nothing happens. */
const pauses = { least: 100, most: 1_000 } as const;

/** Who waits for news of runs. */
export class Wakers {
  readonly #waiting = new Map<string, Set<() => void>>();
  #isClosed = false;

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Whether nobody is woken any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Wakes who waits for news of a run. */
  wake(id: string): void {
    for (const wake of this.#waiting.get(id) ?? []) wake();
  }

  /** Wakes everybody for the last time. */
  close(): void {
    this.#isClosed = true;
    for (const id of this.#waiting.keys()) this.wake(id);
  }

  /** Resolves at the next news of a run, or after a time. */
  async wait(
    id: string,
    options: { readonly clock: Clock; readonly most: number | undefined; readonly signal: AbortSignal | undefined },
  ): Promise<void> {
    const { clock, most, signal } = options;
    let callOff: (() => void) | undefined;
    let wake = (): void => {};
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
      signal?.addEventListener("abort", wake);
      if (most !== undefined) callOff = clock.schedule(wake, most);
    });
    const others = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, others.add(wake));
    try {
      await woken;
    } finally {
      callOff?.();
      signal?.removeEventListener("abort", wake);
      others.delete(wake);
      if (others.size === 0 && this.#waiting.get(id) === others) this.#waiting.delete(id);
    }
  }
}

/**
 * The events of a run after a place, until its last one. It ends without that when there is no such run, or nobody
 * is woken any more.
 *
 * @throws The reason of the signal.
 */
export async function* tailEvents(
  id: string,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal | undefined },
  { database, clock, wakers, isHere }: TailOptions,
): AsyncGenerator<RunEvent, void, undefined> {
  let last = after;
  let pause: number = pauses.least;
  let size = 0;
  while (!wakers.isClosed) {
    signal?.throwIfAborted();
    const events = readEvents(database, id, last, page);
    for (const event of events) {
      size += event.size;
      if (size > stretch) {
        size = 0;
        await new Promise<void>((resolve) => void clock.schedule(resolve, 0));
        signal?.throwIfAborted();
      }
      // What lies elsewhere cannot be read any more.
      if (wakers.isClosed) return;
      const found = readNow(event, () => findRun(database, id) !== undefined);
      if (!found) return;
      last = found.sequence;
      yield found;
      if (isEnd(found.event)) return;
      signal?.throwIfAborted();
    }
    if (events.length > 0) {
      pause = pauses.least;
      continue;
    }
    const run = findRun(database, id);
    // It may have gone on since.
    if (run && run.sequence > last) continue;
    if (!run || run.endedAt !== undefined) return;
    await wakers.wait(id, { clock, most: isHere(id) ? undefined : pause, signal });
    pause = Math.min(pause * 2, pauses.most);
  }
}

/** An event; undefined where its run was deleted since. */
function readNow({ read }: KeptEvent, isThere: () => boolean): RunEvent | undefined {
  try {
    return read();
  } catch (error) {
    if (isThere()) throw error;
    return undefined;
  }
}
