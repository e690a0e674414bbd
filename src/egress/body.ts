/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";
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
 */
export async function readText(response: Response, limit: number): Promise<string> {
  const { headers, type, url } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  const plain = url && type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding");
  if (declared && declared <= limit && plain) return await response.text();
  const { text, seen } = await readChunks(response.body?.getReader(), limit);
  if (seen > limit) throw new LimitExceededError("limits.messageBytes", limit, seen);
  return text;
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never throws.
 */
export async function readErrorText({ body }: Response, clock: Clock): Promise<string> {
  const reader = body?.getReader();
  const stop = clock.schedule(() => void reader?.cancel().catch(() => {}), errorWait);
  try {
    return (await readChunks(reader, errorBytesRead)).text;
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
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  limit: number,
): Promise<{ text: string; seen: number }> {
  const decoder = new TextDecoder();
  let text = "";
  let seen = 0;
  try {
    while (reader && seen <= limit) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, limit - seen), { stream: true });
      seen += value.byteLength;
    }
    return { text, seen };
  } finally {
    reader?.cancel().catch(() => {});
  }
}
