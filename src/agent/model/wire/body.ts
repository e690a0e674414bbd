/**
 * What a model answers, as bytes on the wire: server-sent events or one JSON value, whichever comes.
 *
 * @module
 */
import { ProtocolViolationError } from "../../../protocol/errors.ts";
import { parseJson } from "../../../protocol/limits/json_scan.ts";
import { checkLimit } from "../../../protocol/limits.ts";
import { SseParser } from "../../../transport/sse.ts";
import type { Patience } from "./patience.ts";

/** How much is taken of an answer. */
export interface ModelLimits {
  /** Characters of one event, bytes of an answer that is not streamed (16 MiB). */
  readonly messageBytes?: number | undefined;
  /** Bytes of a whole answer (64 MiB). */
  readonly streamBytes?: number | undefined;
  /** How deep JSON may nest (128). */
  readonly jsonDepth?: number | undefined;
  /** How many values one event may hold (250,000). */
  readonly jsonNodes?: number | undefined;
  /** Tool calls of one answer (256). */
  readonly toolCalls?: number | undefined;
}

/** The limits of a model, filled in. */
export type FilledLimits = { readonly [Name in keyof ModelLimits]-?: number };

/** What an answer says: a JSON value, a text that is none, or that it is over. */
export type Told = { readonly value: unknown } | { readonly broken: string } | "done";

/** Options of {@linkcode readTold}. */
export interface TellingOptions {
  readonly limits: FilledLimits;
  readonly patience: Patience;
  /** Milliseconds between two signs of life. */
  readonly idle: number;
  /** Whether all that matters was told: then little is waited for, and what breaks does not matter. */
  isComplete(): boolean;
}

/** How long the last words of an answer are waited for (usage, the last line) once it is complete, in milliseconds. */
const linger = 2_000;
// It keeps nothing between two calls.
const encoder = new TextEncoder();

/**
 * Fills the limits in.
 *
 * @throws {RangeError} When one is no positive number.
 */
export function fillLimits(given: ModelLimits = {}): FilledLimits {
  const { messageBytes = 16 * 2 ** 20, streamBytes = 64 * 2 ** 20, jsonDepth = 128, jsonNodes = 250_000 } = given;
  const filled = { messageBytes, streamBytes, jsonDepth, jsonNodes, toolCalls: given.toolCalls ?? 256 };
  for (const [name, value] of Object.entries(filled)) {
    if (!(value > 0)) throw new RangeError(`Cannot use "limits.${name}" ${value}: expected a number above 0`);
  }
  return filled;
}

/**
 * Reads an answer value by value. Its first character decides what it is, since not every endpoint says so: `{` or `[` one JSON
 * value, `<` a page for people, else events. The body is given up when the reader is.
 *
 * @throws {LimitExceededError} When it is larger than a limit.
 * @throws {TimeoutError} When nothing comes for too long.
 * @throws {ProtocolViolationError} When it is a page.
 */
export async function* readTold(
  body: ReadableStream<Uint8Array>,
  options: TellingOptions,
): AsyncGenerator<Told, void, undefined> {
  const { limits } = options;
  const chunks = readChunks(body, options);
  const head: Uint8Array[] = [];
  let first: number | undefined;
  // By hand: a loop that is left would end what it reads.
  for (let part; first === undefined && !(part = await chunks.next()).done;) {
    head.push(part.value);
    first = part.value.find(isMeaningful);
  }
  const all = join(head, chunks);
  if (first === bracket || first === brace) {
    yield readJson(await readText(all, limits), limits);
    yield "done";
    return;
  }
  if (first === lessThan) {
    const text = await readText(all, { ...limits, messageBytes: limits.streamBytes }, 2_048);
    throw new ProtocolViolationError(`it answered a page, not JSON or events: ${text}`);
  }
  const ready: string[] = [];
  const parser = new SseParser(limits.messageBytes, (data) => void ready.push(data));
  for await (const chunk of all) {
    parser.push(chunk);
    yield* tell(ready, limits);
  }
  // Some leave out the blank line after their last event.
  parser.push(encoder.encode("\n\n"));
  // What was cut off in the middle is no event.
  for (const told of tell(ready, limits)) if (told === "done" || "value" in told) yield told;
}

const brace = 123;
const bracket = 91;
const lessThan = 60;

/** Neither white space nor a part of a byte order mark. */
function isMeaningful(byte: number): boolean {
  return byte > 32 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf;
}

function* tell(ready: string[], limits: FilledLimits): Generator<Told, void, undefined> {
  for (const data of ready.splice(0)) {
    yield data.trim() === "[DONE]" ? "done" : readJson(data, limits);
  }
}

function readJson(text: string, limits: FilledLimits): Told {
  try {
    return { value: parseJson(text, limits) };
  } catch (error) {
    if (error instanceof SyntaxError) return { broken: text };
    throw error;
  }
}

async function* readChunks(
  body: ReadableStream<Uint8Array>,
  { limits, patience, idle, isComplete }: TellingOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  let seen = 0;
  try {
    while (true) {
      const { done, value } = await patience.wait(reader.read(), "idle", isComplete() ? Math.min(linger, idle) : idle);
      if (done) return;
      checkLimit("streamBytes", limits.streamBytes, seen += value.length);
      yield value;
    }
  } catch (error) {
    if (!isComplete() || patience.isCalledOff) throw error;
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function* join(
  head: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* head;
    yield* rest;
  } finally {
    // Left before it was begun: nothing else would let go of the body.
    await rest.return();
  }
}

/** The text of what is left, at most `limits.messageBytes`, or the first `enough` bytes of it. */
async function readText(chunks: AsyncIterable<Uint8Array>, limits: FilledLimits, enough = Infinity): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let seen = 0;
  for await (const chunk of chunks) {
    checkLimit("messageBytes", limits.messageBytes, seen += chunk.length);
    parts.push(decoder.decode(chunk, { stream: true }));
    if (seen >= enough) break;
  }
  return parts.join("") + decoder.decode();
}
