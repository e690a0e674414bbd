/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { checkLimit } from "../protocol/limits.ts";
export { excerpt } from "../protocol/excerpt.ts";

const errorBytes = 65_536;

/**
 * Reads a body as text.
 *
 * @param response The reply; its body is consumed, or cancelled when this throws.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @param start Whether the start of a longer body will do.
 * @throws {LimitExceededError} When the body is longer.
 */
export async function readText(response: Response, limit: number, start?: boolean): Promise<string> {
  const { headers, body, type } = response;
  const declared = Number(headers.get("content-length"));
  // The length holds only for a plain body: some runtimes take chunks beside it, and a browser hides the encodings of another origin.
  const plain = type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding");
  if (declared && declared <= limit && plain) return await response.text();
  const reader = body?.getReader();
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
    if (!start) checkLimit("messageBytes", limit, seen);
    return text;
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** Reads the start of an error's body: at most 64 KiB are taken. Never rejects. */
export function readErrorText(response: Response): Promise<string> {
  return readText(response, errorBytes, true).catch(() => "");
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}
