/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { LimitExceededError } from "../protocol/errors.ts";

const errorBytesRead = 65_536;
const errorBytesKept = 2_048;

/**
 * Reads a whole body as text.
 *
 * @param response The reply; its body is consumed, or cancelled when this throws.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @throws {LimitExceededError} When the body is longer.
 */
export async function readText(response: Response, limit: number): Promise<string> {
  const { headers } = response;
  const declared = headers.get("content-length");
  if (declared && !headers.get("content-encoding")) {
    if (Number(declared) <= limit) return response.text();
    discard(response);
    throw new LimitExceededError("limits.messageBytes", limit, Number(declared));
  }
  return await readChunks(response, limit, (seen) => {
    throw new LimitExceededError("limits.messageBytes", limit, seen);
  });
}

/** Reads the start of an error's body: at most 64 KiB are taken, at most 2 KiB are kept. Never throws. */
export async function readErrorText(response: Response): Promise<string> {
  try {
    return await readChunks(response, errorBytesRead, () => {});
  } catch {
    return "";
  }
}

/** The part of an error's body that may stand in an error: at most 2 KiB. */
export function excerpt(text: string): string {
  return text.length > errorBytesKept ? text.slice(0, errorBytesKept) + "…" : text;
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

async function readChunks(response: Response, limit: number, over: (seen: number) => void): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const decoder = new TextDecoder();
  let text = "";
  let seen = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      seen += value.byteLength;
      if (seen > limit) {
        over(seen);
        return text;
      }
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
