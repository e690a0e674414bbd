/**
 * Streams of events that stay open while nothing happens.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** How a stream is kept open. */
export interface KeepAliveOptions {
  readonly clock: Clock;
  /** Silence before a comment is sent, in milliseconds. */
  readonly keepAlive: number;
  /** What is sent (one with an empty line behind it). */
  readonly comment?: string;
  /** Whether nothing may be sent any more (never). */
  isOver?(): boolean;
}

/** Sends comments, as long as there is room for them, until the returned function is called. */
export function keepOpen(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { clock, keepAlive, comment = ": keep-alive\n\n", isOver }: KeepAliveOptions,
): () => void {
  let stop = (): void => {};
  const begin = (): void => {
    stop = clock.schedule(
      () => {
        if (isOver?.()) return;
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(new TextEncoder().encode(comment));
        begin();
      },
      keepAlive,
      { background: true },
    );
  };
  begin();
  return () => stop();
}
