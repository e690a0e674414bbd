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
// It keeps nothing between two calls. JSON has to be UTF-8: a damaged byte is not handed on as if it were text.
const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a whole body as text.
 *
 * @param response The reply; its body is consumed, or cancelled when this throws.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @throws {LimitExceededError} When the body is longer.
 * @throws {ProtocolViolationError} When it is not UTF-8.
 */
export async function readText(response: Response, limit: number, byob: ByobSwitch): Promise<string> {
  const { headers, type, url } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  const plain = url && type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding");
  const whole = declared && declared <= limit && plain
    ? response
    : await readStart(new BodyReader(response, byob), limit);
  if (whole instanceof Blob) checkLimit("messageBytes", limit, whole.size);
  const bytes = await whole.arrayBuffer();
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolViolationError("The reply is not UTF-8", { cause });
  }
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never rejects.
 */
export async function readErrorText(response: Response, clock: Clock): Promise<string> {
  const reader = new BodyReader(response, { byob: false });
  const stop = clock.schedule(() => reader.cancel(), errorWait);
  try {
    return (await (await readStart(reader, errorBytes)).text()).slice(0, errorBytes);
  } catch {
    return "";
  } finally {
    stop();
  }
}

/** Reads until the end, or until more than `limit` bytes were seen; the rest is cancelled. */
async function readStart(reader: BodyReader, limit: number): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let seen = 0;
  try {
    while (seen <= limit) {
      const chunk = await reader.read();
      if (!chunk) break;
      seen += chunk.byteLength;
      // The reader uses its buffer again.
      chunks.push(chunk.slice());
    }
    return new Blob(chunks);
  } finally {
    reader.cancel();
  }
}

/** Whether bodies can be read into a buffer of ours: set to false once the runtime cannot. */
export interface ByobSwitch {
  byob: boolean;
}

/**
 * Reads a body chunk by chunk, into one buffer again and again where the runtime can do that: it is far cheaper on Deno,
 * in time and in memory. A chunk is good until the next one is read.
 */
export class BodyReader {
  readonly #reader: ReadableStreamBYOBReader | undefined;
  #buffer: ArrayBuffer;

  constructor({ body }: Response, byob: ByobSwitch) {
    try {
      if (byob.byob) this.#reader = body?.getReader({ mode: "byob" });
    } catch {
      byob.byob = false;
    }
    // The default reader takes no notice of the buffer.
    this.#reader ??= body?.getReader() as unknown as ReadableStreamBYOBReader | undefined;
    this.#buffer = new ArrayBuffer(byob.byob ? bufferBytes : 0);
  }

  /** The next chunk; undefined at the end. */
  async read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    if (!this.#reader) return undefined;
    const { done, value } = await this.#reader.read(new Uint8Array(this.#buffer));
    if (done) return undefined;
    this.#buffer = value.buffer;
    return value;
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
