/**
 * Server-sent events, written by hand.
 *
 * @module
 */

/** The fields of one event. Without `data` the event only carries its id or retry time. */
export interface SseEvent {
  readonly data?: string;
  readonly id?: string;
  readonly event?: string;
  /** Milliseconds. */
  readonly retry?: number;
}

/** A stream of events that somebody reads. */
export interface SseStream {
  readonly body: ReadableStream<Uint8Array>;
  /** True once it ended, failed or its reader left. */
  readonly closed: boolean;
  send(event: SseEvent): void;
  /** Writes text as it is. */
  raw(text: string): void;
  close(): void;
  fail(reason: unknown): void;
}

/** The text of one event. */
export function formatEvent(event: SseEvent): string {
  let text = "";
  if (event.event !== undefined) text += `event: ${event.event}\n`;
  if (event.id !== undefined) text += `id: ${event.id}\n`;
  if (event.retry !== undefined) text += `retry: ${event.retry}\n`;
  if (event.data !== undefined) text += `data: ${event.data.replaceAll("\n", "\ndata: ")}\n`;
  return text + "\n";
}

/** Opens a stream of events; `left` is called once when its reader goes away. */
export function createSseStream(left?: (reason: unknown) => void): SseStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  let closed = false;
  const body = new ReadableStream<Uint8Array>({
    start(started) {
      controller = started;
    },
    cancel(reason) {
      closed = true;
      left?.(reason);
    },
  });
  const raw = (text: string) => {
    if (!closed) controller?.enqueue(encoder.encode(text));
  };
  return {
    body,
    raw,
    get closed() {
      return closed;
    },
    send: (event) => raw(formatEvent(event)),
    close() {
      if (closed) return;
      closed = true;
      controller?.close();
    },
    fail(reason) {
      if (closed) return;
      closed = true;
      controller?.error(reason);
    },
  };
}

/** A 200 reply that streams events. */
export function sseResponse(stream: SseStream, headers: Record<string, string> = {}): Response {
  return new Response(stream.body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      ...headers,
    },
  });
}

/** A reply with a JSON body. */
export function jsonResponse(value: unknown, status: number = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { "content-type": "application/json", ...headers } });
}
