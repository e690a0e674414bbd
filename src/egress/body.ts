/**
 * Bounded reads of HTTP bodies: what is counted are decompressed bytes, and a body that is given up is always cancelled.
 *
 * @module
 */
import { ProtocolViolationError } from "../protocol/errors.ts";
import { checkLimit } from "../protocol/limits.ts";
import type { Clock } from "../ports.ts";
import { largeBytes } from "./sizes.ts";

// They keep nothing between two calls.
const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a whole body.
 *
 * @param response The reply; its body is consumed, or cancelled when this rejects.
 * @param limit The most bytes to take: the option `limits.messageBytes`.
 * @param isDeno As for {@linkcode eachChunk}.
 * @throws {LimitExceededError} When the body is longer.
 */
export function readBytes(response: Response, limit: number, isDeno: boolean): Promise<ArrayBuffer | Uint8Array> {
  const { headers, type, url } = response;
  // The length holds only for a plain body off a socket: some runtimes take chunks beside it, a browser hides the encodings
  // of another origin, and a reply without a URL was made by a program.
  const declared = Number(
    url && type !== "cors" && !headers.get("content-encoding") && !headers.get("transfer-encoding") &&
      headers.get("content-length"),
  );
  // Deno itself would hold many bytes twice.
  return declared && declared <= (isDeno ? Math.min(limit, largeBytes) : limit)
    ? response.arrayBuffer()
    : gather(response, isDeno, limit, Math.min(declared, limit));
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
  } catch {
    throw new ProtocolViolationError("The message is not UTF-8");
  }
  // Node 20 and older browsers cannot.
  if (bytes.byteLength > largeBytes) ((bytes as Uint8Array<ArrayBuffer>).buffer ?? bytes).transfer?.(0);
  return text;
}

/**
 * Reads the start of an error's body: at most 64 KiB are taken, and what is not there within a second is not waited for.
 * Never rejects.
 */
export async function readErrorText(response: Response, clock: Clock): Promise<string> {
  const wait = 1_000;
  const most = 65_536;
  const decoder = new TextDecoder();
  let text = "";
  try {
    await eachChunk(response, false, (chunk, cancel) => {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > most) cancel();
    }, (cancel) => clock.schedule(cancel, wait));
  } catch {
    // What was read by then is something.
  }
  return text.slice(0, most);
}

/**
 * Reads until the end. What is longer than `limit` is refused; `declared` is how much will come, where that is known. For what
 * comes unannounced the room is doubled, up to the limit.
 *
 * @throws {LimitExceededError} When the body is longer.
 */
export async function gather(
  response: Pick<Response, "body">,
  isDeno: boolean,
  limit: number,
  declared: number,
): Promise<Uint8Array> {
  let room = new Uint8Array(declared);
  let at = 0;
  await eachChunk(response, isDeno, (chunk) => {
    const end = at + chunk.length;
    checkLimit("messageBytes", limit, end);
    if (end > room.length) {
      const full = room;
      room = new Uint8Array(Math.max(end, Math.min(2 * at, limit)));
      room.set(full);
    }
    room.set(chunk, at);
    at = end;
  });
  return room.subarray(0, at);
}

/**
 * Reads a body chunk by chunk to its end. The rest is cancelled when `take` throws.
 *
 * @param isDeno The body is read into one buffer again and again: it is far cheaper there, in time and in memory.
 * @param take Takes a chunk, which is good only until it returns.
 * @param begin Is given what cancels it, which never throws, and may give what is called in the end.
 */
export async function eachChunk(
  { body }: Pick<Response, "body">,
  isDeno: boolean,
  take: (chunk: Uint8Array, cancel: () => void) => void,
  begin?: (cancel: () => void) => (() => void) | void,
): Promise<void> {
  // Most replies are small: the buffer that reads them is too, until one fills it.
  const firstBytes = 4_096;
  const laterBytes = 65_536;
  let reader: ReadableStreamBYOBReader | undefined;
  try {
    if (isDeno) reader = body?.getReader({ mode: "byob" });
  } catch {
    // A body that a program made may know no buffers.
  }
  const first = reader ? firstBytes : 0;
  // This reader takes no notice of the buffer.
  reader ??= body?.getReader() as unknown as ReadableStreamBYOBReader | undefined;
  if (!reader) return;
  const cancel = () => reader.cancel().catch(() => {});
  const stop = begin?.(cancel);
  try {
    let view = new Uint8Array(first);
    for (let part; !(part = await reader.read(view)).done;) {
      const { value } = part;
      take(value, cancel);
      // The buffer that came back, or a larger one once the first was filled.
      if (first) {
        view = new Uint8Array(
          (value.length === first && value.buffer.byteLength === first ? laterBytes : value.buffer) as ArrayBuffer,
        );
      }
    }
  } finally {
    cancel();
    stop?.();
  }
}

/** Gives a body up, so that its connection is free. Never throws. */
export function discard({ body }: Response): void {
  body?.cancel().catch(() => {});
}
