/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { ProtocolViolationError } from "../protocol/errors.ts";
import { checkLimit } from "../protocol/limits.ts";
import type { Clock } from "../ports.ts";

const errorBytes = 65_536;
const errorWait = 1_000;
const bufferBytes = 65_536;
/** From here on memory that is let go of early is worth the work. */
const largeBytes = 1_048_576;
// They keep nothing between two calls.
const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a whole body.
 *
 * @param response The reply; its body is consumed, or cancelled when this rejects.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @throws {LimitExceededError} When the body is longer.
 */
export function readBytes(response: Response, limit: number, byob: ByobSwitch): Promise<ArrayBuffer> {
  const { headers, type, url } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  return declared && declared <= limit && url && type !== "cors" && !headers.get("content-encoding") &&
      !headers.get("transfer-encoding")
    ? response.arrayBuffer()
    : gather(new BodyReader(response, byob), limit);
}

/**
 * The text that a message's bytes are. They are used up: the memory of many bytes is given back at once.
 *
 * @throws {ProtocolViolationError} When they are not UTF-8: a damaged byte is not handed on as if it were text.
 */
export function takeText(bytes: ArrayBuffer): string {
  const text = utf8.decode(bytes);
  try {
    // Only a text with this mark can have been damaged, and the strict way takes several times the memory on Deno.
    if (text.includes("\ufffd")) strictUtf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolViolationError("The reply is not UTF-8", { cause });
  }
  // Node 20 and older browsers cannot.
  if (bytes.byteLength > largeBytes) bytes.transfer?.(0);
  return text;
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never rejects.
 */
export async function readErrorText(response: Response, clock: Clock): Promise<string> {
  const reader = new BodyReader(response, { byob: false });
  const stop = clock.schedule(() => reader.cancel(), errorWait);
  try {
    return utf8.decode(await gather(reader, errorBytes, true)).slice(0, errorBytes);
  } catch {
    return "";
  } finally {
    stop();
  }
}

/** Reads until the end. What is longer than `limit` is cut there, or refused. */
async function gather(reader: BodyReader, limit: number, cut = false): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let seen = 0;
  await reader.each((chunk) => {
    seen += chunk.length;
    if (seen > limit && !cut) return true;
    // The reader uses its buffer again.
    chunks.push(chunk.slice());
    return seen > limit;
  });
  if (!cut) checkLimit("messageBytes", limit, seen);
  const whole = new Uint8Array(seen);
  for (let chunk; (chunk = chunks.pop());) whole.set(chunk, seen -= chunk.length);
  return whole.buffer;
}

/** Whether bodies can be read into a buffer of ours: set to false once the runtime cannot. */
export interface ByobSwitch {
  byob: boolean;
}

/**
 * Reads a body chunk by chunk, into one buffer again and again where the runtime can do that: it is far cheaper on Deno,
 * in time and in memory.
 */
export class BodyReader {
  readonly #reader: ReadableStreamBYOBReader | undefined;
  /** Empty for the default reader, which takes no notice of it. */
  #view: Uint8Array<ArrayBuffer>;

  constructor({ body }: Response, byob: ByobSwitch) {
    try {
      if (byob.byob) this.#reader = body?.getReader({ mode: "byob" });
    } catch {
      byob.byob = false;
    }
    this.#reader ??= body?.getReader() as unknown as ReadableStreamBYOBReader | undefined;
    this.#view = new Uint8Array(byob.byob ? bufferBytes : 0);
  }

  /** Gives every chunk until the end, or until `take` gives true; a chunk is good only until `take` returns. */
  async each(take: (chunk: Uint8Array) => boolean | void): Promise<void> {
    const reader = this.#reader;
    try {
      for (let over: boolean | void = false; reader && !over;) {
        const { done, value } = await reader.read(this.#view);
        if (done) return;
        over = take(value);
        if (this.#view.length) this.#view = new Uint8Array(value.buffer);
      }
    } catch (error) {
      this.cancel();
      throw error;
    }
    this.cancel();
  }

  /** Gives the rest up. Never throws. */
  cancel(): void {
    this.#reader?.cancel().catch(() => {});
  }
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}
