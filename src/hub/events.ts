/**
 * What happens in a hub, told to whoever listens.
 *
 * @module
 */
import type { HubEvent } from "./seam.ts";

/** How many events wait for one listener; the oldest go first. */
const mostWaiting = 1_000;

/** What happens from the moment on in which one began to listen. */
export interface HubEvents extends AsyncIterableIterator<HubEvent> {
  /** How many events were dropped, since too many waited. */
  readonly dropped: number;
  /** Stops listening; what waits is dropped. */
  return(): Promise<IteratorResult<HubEvent>>;
}

/** All who listen. */
export class EventSource {
  readonly #listeners = new Set<Listener>();

  /** Tells all. */
  emit(event: HubEvent): void {
    for (const listener of this.#listeners) listener.push(event);
  }

  /** Begins to listen. */
  listen(signal: AbortSignal | undefined): HubEvents {
    const listener = new Listener(() => {
      this.#listeners.delete(listener);
      signal?.removeEventListener("abort", listener);
    });
    this.#listeners.add(listener);
    signal?.addEventListener("abort", listener);
    if (signal?.aborted) listener.end();
    return listener;
  }

  /** Ends it for all. What waits is still told. */
  end(): void {
    for (const listener of this.#listeners) listener.end();
  }
}

class Listener implements HubEvents {
  dropped = 0;
  readonly #left: () => void;
  readonly #events: HubEvent[] = [];
  readonly #asked: ((next: Promise<IteratorResult<HubEvent>>) => void)[] = [];
  #ended: boolean | undefined;

  constructor(left: () => void) {
    this.#left = left;
  }

  push(value: HubEvent): void {
    if (this.#events.push(value) > mostWaiting) {
      this.#events.shift();
      this.dropped++;
    }
    this.#asked.shift()?.(this.next());
  }

  next(): Promise<IteratorResult<HubEvent>> {
    const value = this.#events.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => void this.#asked.push(resolve));
  }

  return(): Promise<IteratorResult<HubEvent>> {
    this.#events.length = 0;
    this.end();
    return this.next();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The signal's listener. */
  handleEvent(): void {
    this.end();
  }

  end(): void {
    this.#ended = true;
    this.#left();
    this.#asked.splice(0).forEach((ask) => ask(this.next()));
  }
}
