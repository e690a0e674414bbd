/**
 * Replies to HEAD.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** How long it is read at most to know its length, in milliseconds, and how much of it, in bytes. */
const patience = 1_000;
const most = 16_777_216;

/** A reply without its body, which says how long that is: hosts would say that there is none. Of one that may have no end nothing is said. */
export async function headOf(response: Response, clock: Clock): Promise<Response> {
  const { headers, body, status } = response;
  const head = new Response(null, response);
  if (!body) return head;
  const reader = body.getReader();
  const isKnown = status === 304 || headers.has("content-length") ||
    headers.get("content-type")?.startsWith("text/event-stream");
  const length = isKnown ? undefined : await lengthOf(reader, clock);
  if (length !== undefined) head.headers.set("content-length", `${length}`);
  // Who made it may never say that it has stopped.
  void reader.cancel().catch(() => {});
  return head;
}

/** Undefined where it is too long, or breaks off. */
async function lengthOf(reader: ReadableStreamDefaultReader<Uint8Array>, clock: Clock): Promise<number | undefined> {
  let isLate = false;
  const stop = clock.schedule(
    () => {
      isLate = true;
      // What is waited for is at its end then.
      void reader.cancel().catch(() => {});
    },
    patience,
    { background: true },
  );
  try {
    for (let length = 0; length <= most;) {
      const { done, value } = await reader.read();
      if (done) return isLate ? undefined : length;
      length += value.length;
    }
  } catch {
    // GET breaks off, too.
  } finally {
    stop();
  }
  return undefined;
}
