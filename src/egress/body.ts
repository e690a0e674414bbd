/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { LimitExceededError, ProtocolViolationError } from "../protocol/errors.ts";
import type { Clock } from "../ports.ts";

const errorBytesRead = 65_536;
const errorBytesKept = 2_048;
const errorWait = 1_000;

/**
 * Reads a whole body as text.
 *
 * @param response The reply; its body is consumed, or cancelled when this throws.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @throws {LimitExceededError} When the body is longer.
 * @throws {ProtocolViolationError} When it is not UTF-8.
 */
export async function readText(response: Response, limit: number): Promise<string> {
  const { headers, type, url } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  const plain = url && type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding");
  if (declared && declared <= limit && plain) return decode(await response.arrayBuffer());
  const { chunks, seen } = await readChunks(response.body?.getReader(), limit);
  if (seen > limit) throw new LimitExceededError("limits.messageBytes", limit, seen);
  return decode(await new Blob(chunks).arrayBuffer());
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never throws.
 */
export async function readErrorText({ body }: Response, clock: Clock): Promise<string> {
  const reader = body?.getReader();
  const stop = clock.schedule(() => void reader?.cancel().catch(() => {}), errorWait);
  try {
    const { chunks } = await readChunks(reader, errorBytesRead);
    return (await new Blob(chunks).text()).slice(0, errorBytesRead);
  } catch {
    return "";
  } finally {
    stop();
  }
}

/** The part of an error's body that may stand in an error: at most 2 KiB. */
export function excerpt(text: string, length: number = errorBytesKept): string {
  return text.length > length ? text.slice(0, length) + "…" : text;
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}

/** Reads until the end, or until more than `limit` bytes were seen; the rest is cancelled. */
async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined,
  limit: number,
): Promise<{ chunks: Uint8Array<ArrayBuffer>[]; seen: number }> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let seen = 0;
  try {
    while (reader && seen <= limit) {
      const { done, value } = await reader.read();
      if (done) break;
      seen += value.byteLength;
      chunks.push(value);
    }
    return { chunks, seen };
  } finally {
    reader?.cancel().catch(() => {});
  }
}

// It keeps nothing between two calls. JSON has to be UTF-8: a damaged byte is not handed on as if it were text.
const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: ArrayBuffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new ProtocolViolationError("The reply is not UTF-8", { cause });
  }
}
