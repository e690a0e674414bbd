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
/** Most replies are small: the buffer that reads them is too, until one fills it. */
const firstBytes = 4_096;
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
export function readBytes(response: Response, limit: number, byob: ByobSwitch): Promise<ArrayBuffer | Uint8Array> {
  const { headers, type, url } = response;
  let declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  if (
    !(declared <= limit) || !url || type === "cors" || headers.get("content-encoding") || headers.get("transfer-encoding")
  ) declared = 0;
  // Deno itself would hold the bytes twice.
  return declared && !(byob.isDeno && declared > largeBytes)
    ? response.arrayBuffer()
    : gather(new BodyReader(response, byob), limit, declared);
}

/**
 * The text that a message's bytes are. They are used up: the memory of many bytes is given back at once.
 *
 * @throws {ProtocolViolationError} When they are not UTF-8: a damaged byte is not handed on as if it were text.
 */
export function takeText(bytes: ArrayBuffer | Uint8Array): string {
  const text = utf8.decode(bytes);
  try {
    // Only a text with this mark can have been damaged, and the strict way takes several times the memory on Deno.
    if (text.includes("\ufffd")) strictUtf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolViolationError("The reply is not UTF-8", { cause });
  }
  // Node 20 and older browsers cannot.
  if (bytes.byteLength > largeBytes) (("buffer" in bytes ? bytes.buffer : bytes) as ArrayBuffer).transfer?.(0);
  return text;
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never rejects.
 */
export async function readErrorText(response: Response, clock: Clock): Promise<string> {
  const reader = new BodyReader(response, { byob: false });
  const stop = clock.schedule(() => reader.cancel(), errorWait);
  const decoder = new TextDecoder();
  let text = "";
  let seen = 0;
  try {
    await reader.each((chunk) => {
      text += decoder.decode(chunk, { stream: true });
      return (seen += chunk.length) > errorBytes;
    });
    return text.slice(0, errorBytes);
  } catch {
    return "";
  } finally {
    stop();
  }
}

/**
 * Reads until the end. What is longer than `limit` is refused.
 *
 * @param size How much will come, where that is known.
 */
async function gather(reader: BodyReader, limit: number, size = 0): Promise<Uint8Array> {
  let whole = new Uint8Array(size);
  let seen = 0;
  await reader.each((chunk) => {
    const at = seen;
    checkLimit("messageBytes", limit, seen += chunk.length);
    if (seen > whole.length) {
      const start = whole;
      whole = new Uint8Array(Math.min(seen * 2, limit));
      whole.set(start);
    }
    whole.set(chunk, at);
  });
  return whole.subarray(0, seen);
}

/** Whether bodies can be read into a buffer of ours: set to false once the runtime cannot. */
export interface ByobSwitch {
  byob: boolean;
  readonly isDeno?: boolean;
}

/**
 * Reads a body chunk by chunk, into one buffer again and again where the runtime can do that: it is far cheaper on Deno,
 * in time and in memory.
 */
export class BodyReader {
  readonly #reader: ReadableStreamBYOBReader | undefined;
  readonly #byob: boolean;

  constructor({ body }: Response, byob: ByobSwitch) {
    try {
      if (byob.byob) this.#reader = body?.getReader({ mode: "byob" });
    } catch {
      byob.byob = false;
    }
    this.#reader ??= body?.getReader() as unknown as ReadableStreamBYOBReader | undefined;
    this.#byob = byob.byob;
  }

  /** Gives every chunk until the end, or until `take` gives true; a chunk is good only until `take` returns. */
  async each(take: (chunk: Uint8Array) => boolean | void): Promise<void> {
    const reader = this.#reader;
    // The default reader takes no notice of it.
    let view = new Uint8Array(this.#byob ? firstBytes : 0);
    try {
      for (let over: boolean | void = false; reader && !over;) {
        const { done, value } = await reader.read(view);
        if (done) return;
        over = take(value);
        if (this.#byob) view = new Uint8Array(value.length === firstBytes ? new ArrayBuffer(bufferBytes) : value.buffer);
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
