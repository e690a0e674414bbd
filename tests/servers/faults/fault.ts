/**
 * What a fault is, and the tools that faults are made with.
 *
 * @module
 */
import type { Clock } from "../../../src/ports.ts";
import { formatEvent } from "../core/sse.ts";
import type { JsonObject, RequestId } from "../core/wire.ts";

/** What a fault knows of the request that it spoils. */
export interface FaultContext {
  readonly request: Request;
  readonly message: JsonObject;
  readonly id: RequestId;
  /** How often this fault was given, this time included. */
  readonly attempt: number;
  readonly era: "modern" | "legacy";
  /** How many bytes, items or messages a large fault may make at most; the fault has its own default. */
  readonly size: number | undefined;
  /** True when the reply goes over a socket: then a compressed body is really compressed. */
  readonly wire: boolean;
  /** Where redirects to another origin lead. */
  readonly otherOrigin: string;
  readonly clock: Clock;
  readonly meter: Meter;
  /** Lets the healthy server answer (the request is executed): its JSON-RPC response. */
  answer(): Promise<JsonObject>;
  /** Lets the healthy server answer as it is. */
  healthy(): Promise<Response>;
  /** Makes the healthy server forget its sessions (legacy). */
  forget(): void;
}

/** Counts what was made and what was left unread. */
export interface Meter {
  /** Bytes that were handed out. */
  produced: number;
  /** Streams that their reader cancelled before their end. */
  cancelled: number;
}

/** One way to go wrong. */
export interface Fault {
  /** The method that it spoils, or `GET`; `tools/call` when it is not given. */
  readonly on?: string;
  /** True when it spoils each attempt to resume the stream too (a GET with `Last-Event-ID`). */
  readonly resumption?: boolean;
  reply(context: FaultContext): Response | Promise<Response>;
}

/** A reply of events, whatever they hold. */
export function events(texts: readonly string[], trailer: string = ""): Response {
  return text(texts.map((data) => formatEvent({ data })).join("") + trailer, "text/event-stream");
}

/** A reply of events that hold these messages. */
export function messages(...items: readonly unknown[]): Response {
  return events(items.map((item) => JSON.stringify(item)));
}

/** A 200 reply with this text. */
export function text(body: string, type: string = "application/json"): Response {
  return new Response(body, { headers: { "content-type": type } });
}

/** A reply with any status. */
export function status(code: number, body: string | null = "", headers: Record<string, string> = {}): Response {
  return new Response(body, { status: code, headers });
}

/** A reply with a JSON-RPC error. */
export function rpcError(
  context: FaultContext,
  code: number,
  options: { status?: number; data?: unknown } = {},
): Response {
  const error: Record<string, unknown> = { code, message: `error ${code}` };
  if (options.data !== undefined) error.data = options.data;
  const body = JSON.stringify({ jsonrpc: "2.0", id: context.id, error });
  return new Response(body, { status: options.status ?? 200, headers: { "content-type": "application/json" } });
}

/**
 * A body that is made while it is read: `next` gives a chunk by number, or undefined at the end. A reader that leaves is
 * counted.
 */
export function made(
  meter: Meter,
  next: (index: number) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
): ReadableStream<Uint8Array> {
  let index = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await next(index++);
      if (chunk === undefined) return controller.close();
      meter.produced += chunk.length;
      controller.enqueue(chunk);
    },
    cancel() {
      meter.cancelled++;
    },
  }, { highWaterMark: 0 });
}

/** Gives `first`, then `filler` over and over until `limit` bytes, then `last`. */
export function filled(
  meter: Meter,
  parts: { first: string; filler: string; last?: string },
  limit: number,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const unit = encoder.encode(parts.filler);
  const count = Math.max(1, Math.floor(65_536 / unit.length));
  const chunk = new Uint8Array(unit.length * count);
  for (let index = 0; index < count; index++) chunk.set(unit, index * unit.length);
  const chunks = Math.max(1, Math.ceil(limit / chunk.length));
  return made(meter, (index) => {
    if (index === 0) return encoder.encode(parts.first);
    if (index <= chunks) return chunk.slice();
    return index === chunks + 1 && parts.last !== undefined ? encoder.encode(parts.last) : undefined;
  });
}

/** A promise that never settles, without anything that waits on it. */
export function never<Value>(): Promise<Value> {
  return new Promise<Value>(() => {});
}
