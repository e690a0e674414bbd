/**
 * Following the events of a run: a stream that broke off is taken up behind the last event.
 *
 * @module
 */
import { ApiProblem } from "./api.ts";
import type { Ask } from "./api.ts";
import { readEvents } from "./stream.ts";
import type { StreamEvent } from "./stream.ts";

/** Characters of one event that are read. */
const mostEvent = 2_000_000;
const longestWait = 10_000;
/** Silence after which a stream is taken for dead, in milliseconds: the runner says something far more often. */
const longestSilence = 60_000;

/** How a stream does. */
export type StreamState = "connecting" | "live" | "waiting" | "ended";

/** Whether somebody looks at the page, which `visibilitychange` tells of: the document. */
export type Sight = EventTarget & Pick<Document, "hidden">;

/** What follows a stream. */
export interface FollowOptions {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  /** Default: the document. */
  readonly page?: Sight;
  /** Hears each event once. Says whether it is the last one. */
  take(event: StreamEvent): boolean;
  /** Hears how the stream does. */
  state(state: StreamState): void;
  /** Waits some milliseconds, or until the signal. */
  wait(milliseconds: number): Promise<void>;
}

/**
 * Follows a stream to its last event. While nobody looks at the page, one that can be taken up again is let go of: browsers have six
 * connections for all tabs of a runner without TLS.
 *
 * @throws {ApiProblem} When the runner refuses for good.
 */
export async function follow(path: string, options: FollowOptions): Promise<void> {
  const { ask, signal, page = document, take, state, wait } = options;
  let last = 0;
  let tries = 0;
  while (!signal.aborted) {
    state(tries === 0 ? "connecting" : "waiting");
    let isOver = false;
    const hold = new Hold(page, () => last > 0);
    try {
      hold.watch();
      const headers = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
      const response = await ask(path, { headers, signal: AbortSignal.any([signal, hold.signal]) });
      if (response.status === 204 || !response.body) return state("ended");
      state("live");
      await readEvents(response.body, mostEvent, (event) => {
        tries = 0;
        const place = Number(event.id);
        // Each has its place: what was told already is not told again.
        if (Number.isInteger(place) && place > 0) {
          if (place <= last) return;
          last = place;
        }
        isOver = take(event) || isOver;
      }, hold.watch);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && !isPassing(error.status)) throw error;
    } finally {
      hold.end();
    }
    if (isOver) return state("ended");
    state("waiting");
    if (hold.isUnseen()) await lookedAt(page, signal);
    else await wait(Math.min(longestWait, 500 * 2 ** Math.min(tries++, 5)));
  }
}

/** Holds one stream, and lets go of it while nobody looks, and when it is dead. */
class Hold {
  readonly #left = new AbortController();
  readonly #page: Sight;
  readonly #canRest: () => boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly signal: AbortSignal = this.#left.signal;

  /** @param canRest Whether it can be taken up again without a loss. */
  constructor(page: Sight, canRest: () => boolean) {
    this.#page = page;
    this.#canRest = canRest;
    page.addEventListener("visibilitychange", this.#look);
  }

  isUnseen(): boolean {
    return this.#page.hidden && this.#canRest();
  }

  /** Waits for a sign of it from now on: it is asked for, or something has come and was taken. */
  readonly watch = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#left.abort(), longestSilence);
    this.#look();
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#page.removeEventListener("visibilitychange", this.#look);
  }

  readonly #look = (): void => {
    if (this.isUnseen()) this.#left.abort();
  };
}

/** Waits until somebody looks at the page, or the signal. */
function lookedAt(page: Sight, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      if (page.hidden && !signal.aborted) return;
      page.removeEventListener("visibilitychange", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    page.addEventListener("visibilitychange", done);
    signal.addEventListener("abort", done);
    done();
  });
}

/** Whether it may be otherwise in a while. */
function isPassing(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}
