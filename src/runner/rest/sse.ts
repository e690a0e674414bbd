/**
 * Server-sent events: pulled by who reads, with comments while nothing happens.
 *
 * @module
 */
import { keepOpen } from "../../agent/http/keep_alive.ts";
import { inOneLine } from "../../egress/one_line.ts";
import type { Clock } from "../../ports.ts";

// It keeps nothing between two calls.
const encoder = new TextEncoder();
/** Belongs to the event behind it: some readers make an event of each empty line. */
const comment = ": keep-alive\n";

/** One event. */
export interface SentEvent {
  /** What the reader names when it comes back. */
  readonly id?: number | undefined;
  readonly event: string;
  readonly data: object;
}

/** What a stream needs. */
export interface EventStreamOptions {
  readonly clock: Clock;
  /** Silence before a comment is sent, in milliseconds. */
  readonly keepAlive: number;
  /** When a reader whose stream broke off shall come back, in milliseconds. */
  readonly retry?: number | undefined;
  /** Hears how many bytes went. */
  count?(bytes: number): void;
  /** Called once: the stream has ended, or nobody reads it any more. */
  done(): void;
}

/**
 * Streams events. It begins at once with a comment, so that no proxy waits for the first event. An iterator that throws breaks
 * the stream off: whoever reads it comes back, or takes it for not whole.
 */
export function eventStream(events: AsyncIterator<SentEvent>, options: EventStreamOptions): Response {
  return new Response(new EventStream(events, options).body, {
    headers: {
      "content-type": "text/event-stream",
      // What compresses on the way would wait for more than one event.
      "cache-control": "no-cache, no-store, no-transform",
      // nginx would hold events back.
      "x-accel-buffering": "no",
    },
  });
}

class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #events: AsyncIterator<SentEvent>;
  readonly #options: EventStreamOptions;
  #isDone = false;

  constructor(events: AsyncIterator<SentEvent>, options: EventStreamOptions) {
    this.#events = events;
    this.#options = options;
    const { retry } = options;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => this.#send(controller, retry === undefined ? ": open\n" : `: open\nretry: ${retry}\n`),
      pull: (controller) => this.#pull(controller),
      cancel: () => this.#finish(),
    });
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { clock, keepAlive } = this.#options;
    const quiet = keepOpen(controller, { clock, keepAlive, comment, isOver: () => this.#isDone });
    try {
      const { done, value } = await this.#events.next();
      if (this.#isDone) return;
      if (done) {
        this.#finish();
        controller.close();
      } else this.#send(controller, written(value));
    } catch (error) {
      if (this.#isDone) return;
      this.#finish();
      controller.error(error);
    } finally {
      quiet();
    }
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    const bytes = encoder.encode(text);
    this.#options.count?.(bytes.length);
    controller.enqueue(bytes);
  }

  #finish(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#options.done();
    void Promise.resolve(this.#events.return?.()).catch(() => {});
  }
}

function written({ id, event, data }: SentEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${inOneLine(JSON.stringify(data))}\n\n`;
}
