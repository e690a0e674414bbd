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

/** How a stream does. */
export type StreamState = "connecting" | "live" | "waiting" | "ended";

/** What follows a stream. */
export interface FollowOptions {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  /** Hears each event once. Says whether it is the last one. */
  take(event: StreamEvent): boolean;
  /** Hears how the stream does. */
  state(state: StreamState): void;
  /** Waits some milliseconds, or until the signal. */
  wait(milliseconds: number): Promise<void>;
}

/**
 * Follows a stream to its last event.
 *
 * @throws {ApiProblem} When the runner refuses for good.
 */
export async function follow(path: string, options: FollowOptions): Promise<void> {
  const { ask, signal, take, state, wait } = options;
  let last = 0;
  let tries = 0;
  while (!signal.aborted) {
    state(tries === 0 ? "connecting" : "waiting");
    let isOver = false;
    try {
      const headers = { accept: "text/event-stream", ...(last > 0 && { "last-event-id": String(last) }) };
      const response = await ask(path, { headers, signal });
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
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiProblem && !isPassing(error.status)) throw error;
    }
    if (isOver) return state("ended");
    state("waiting");
    await wait(Math.min(longestWait, 500 * 2 ** Math.min(tries++, 5)));
  }
}

/** Whether it may be otherwise in a while. */
function isPassing(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500;
}
