/**
 * One open stream of server-sent events, from its first byte to its end.
 *
 * @module
 */
import { inOneLine } from "../../egress/one_line.ts";
import type { Clock } from "../../ports.ts";

// It keeps nothing between two calls.
const encoder = new TextEncoder();
const headers = {
  "content-type": "text/event-stream",
  // What compresses on the way would wait for more than one event.
  "cache-control": "no-cache, no-transform",
  // nginx would hold events back.
  "x-accel-buffering": "no",
};

/** What a stream needs. */
export interface EventStreamOptions {
  readonly clock: Clock;
  /** Silence before a comment is sent, in milliseconds. */
  readonly keepAlive: number;
  /** Bytes that may wait for a slow reader; with more it is given up. */
  readonly outboxBytes: number;
  /** The request that it answers: its signal tells that the client is gone, where the runtime has one. */
  readonly request: Request;
  /** More headers of the reply. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** After how many milliseconds it ends by itself. Default: never. */
  readonly lasts?: number | undefined;
  /** Called once when the client is gone, too slow, or its time is over; not after {@linkcode EventStream.end}. */
  gone(): void;
}

/** A reply that grows event by event. */
export class EventStream {
  readonly response: Response;
  readonly #options: EventStreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #stopTimer: (() => void) | undefined;
  #stopEnd: (() => void) | undefined;
  // It ends, and does not break: many a host tells a stream that breaks as a failure of its own, or ends the process.
  readonly #lost = (): void => {
    if (!this.#controller) return;
    this.end();
    this.#options.gone();
  };

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: this.#lost,
    }, { highWaterMark: 0, size: (chunk) => chunk!.length });
    this.response = new Response(body, { headers: { ...headers, ...options.headers } });
    const { clock, lasts, request: { signal } } = options;
    if (lasts! < Infinity) this.#stopEnd = clock.schedule(this.#lost, lasts!, { background: true });
    if (signal?.aborted) this.#lost();
    else signal?.addEventListener("abort", this.#lost);
    // Bun keeps the head back until there is something to send.
    this.#keepAlive(0);
  }

  /** False once it has ended, or its reader is gone. */
  get open(): boolean {
    return this.#controller !== undefined;
  }

  /**
   * Sends one message.
   *
   * @param data JSON in one line.
   * @param id Names the event, where the client may come back for what follows it.
   */
  send(data: string, id?: string): void {
    this.#write(`${id === undefined ? "" : `id: ${id}\n`}event: message\ndata: ${inOneLine(data)}\n\n`);
  }

  /**
   * Sends an event without a message, which names the place to come back to (2025-11-25: Sending Messages, 6).
   *
   * @param retry The line that says when, or nothing.
   */
  prime(id: string, retry: string): void {
    this.#write(`id: ${id}\n${retry}data: \n\n`);
  }

  /** Ends it after what was sent. Harmless when it has ended. */
  end(): void {
    const controller = this.#stop();
    try {
      controller?.close();
    } catch {
      // The reader left in this very moment.
    }
  }

  #write(text: string): void {
    const controller = this.#controller;
    if (!controller) return;
    const bytes = encoder.encode(text);
    try {
      if (controller.desiredSize! - bytes.length < -this.#options.outboxBytes) {
        throw new Error("The reader is too slow");
      }
      controller.enqueue(bytes);
    } catch (error) {
      return this.#lose(error);
    }
    this.#keepAlive();
  }

  /** Begins a new silence. */
  #keepAlive(silence = this.#options.keepAlive): void {
    this.#stopTimer?.();
    if (!this.#controller) return;
    const { clock } = this.#options;
    this.#stopTimer = clock.schedule(() => this.#write(": keep-alive\n\n"), silence, { background: true });
  }

  #lose(reason: unknown): void {
    const controller = this.#stop();
    if (!controller) return;
    // Whoever reads it without a connection of its own waits for its end.
    try {
      controller.error(reason);
    } catch {
      // It has ended already.
    }
    this.#options.gone();
  }

  #stop(): ReadableStreamDefaultController<Uint8Array> | undefined {
    const controller = this.#controller;
    this.#controller = undefined;
    this.#stopTimer?.();
    this.#stopEnd?.();
    this.#options.request.signal?.removeEventListener("abort", this.#lost);
    return controller;
  }
}
