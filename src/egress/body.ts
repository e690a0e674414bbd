/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { ProtocolViolationError } from "../protocol/errors.ts";
import { checkLimit } from "../protocol/limits.ts";
import type { Clock } from "../ports.ts";
export { excerpt } from "../protocol/excerpt.ts";

const errorBytes = 65_536;
const errorWait = 1_000;
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
export async function readText(response: Response, limit: number): Promise<string> {
  const { headers, body, type, url } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  const plain = url && type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding");
  const whole = declared && declared <= limit && plain ? response : await readStart(body?.getReader(), limit);
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
export async function readErrorText({ body }: Response, clock: Clock): Promise<string> {
  const reader = body?.getReader();
  const stop = clock.schedule(() => void reader?.cancel().catch(() => {}), errorWait);
  try {
    return (await (await readStart(reader, errorBytes)).text()).slice(0, errorBytes);
  } catch {
    return "";
  } finally {
    stop();
  }
}

/** Reads until the end, or until more than `limit` bytes were seen; the rest is cancelled. */
async function readStart(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined,
  limit: number,
): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let seen = 0;
  try {
    while (reader && seen <= limit) {
      const { done, value } = await reader.read();
      if (done) break;
      seen += value.byteLength;
      chunks.push(value);
    }
    return new Blob(chunks);
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}
