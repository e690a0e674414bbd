/**
 * The event streams of one legacy HTTP session: each message on one stream, event ids unique in the session, and what was
 * missed can be had again by `Last-Event-ID`.
 *
 * @module
 */
import { createSseStream, type SseStream } from "./sse.ts";

/** What the streams of a session are like. */
export interface StreamOptions {
  /** Gives ids to events, so that a stream can be resumed. */
  readonly resumable: boolean;
  /** Begins a stream with an event that has an id and no data (2025-11-25). */
  readonly priming: boolean;
  /** The `retry` of the priming event, in milliseconds. */
  readonly retry: number;
}

/** One logical stream; connections to it come and go. */
export interface EventStream {
  readonly id: string;
  /** True while somebody reads. */
  readonly attached: boolean;
  /** Puts a message on the stream, or keeps it until somebody reads. */
  push(data: string): void;
  /** Connects a reader; `after` is the number of the last event that it has seen, undefined for a first connection. */
  attach(after: number | undefined): ReadableStream<Uint8Array>;
  /** Ends the connection; the stream goes on. */
  detach(): void;
  /** Breaks the connection; the stream goes on. */
  breakOff(reason: Error): void;
  /** Nothing more will come. */
  finish(): void;
}

/** Finds a stream by an event's id: `[stream, number]`. */
export function parseEventId(text: string): [string, number] | undefined {
  const match = /^(s\d+)_(\d+)$/.exec(text);
  return match?.[1] === undefined ? undefined : [match[1], Number(match[2])];
}

/** Makes a stream. */
export function createEventStream(id: string, options: StreamOptions): EventStream {
  const kept: string[] = [];
  let sent = 0;
  let finished = false;
  let reader: SseStream | undefined;
  const eventId = (number: number) => options.resumable ? { id: `${id}_${number}` } : {};
  const write = (stream: SseStream, index: number) => {
    stream.send({ ...eventId(index + 1), data: kept[index] ?? "" });
    sent = Math.max(sent, index + 1);
  };
  return {
    id,
    get attached() {
      return reader !== undefined && !reader.closed;
    },
    push(data) {
      kept.push(data);
      if (reader !== undefined && !reader.closed) write(reader, kept.length - 1);
    },
    attach(after) {
      reader?.close();
      const stream = createSseStream();
      reader = stream;
      if (options.priming) stream.send({ ...eventId(after ?? sent), retry: options.retry, data: "" });
      for (let index = after ?? sent; index < kept.length; index++) write(stream, index);
      if (finished) stream.close();
      return stream.body;
    },
    detach: () => reader?.close(),
    breakOff: (reason) => reader?.fail(reason),
    finish() {
      finished = true;
      reader?.close();
    },
  };
}
