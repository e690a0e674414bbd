/**
 * Joins a client's `fetch` port to a fake peer in the same process: no socket, but the manners of a real `fetch`.
 *
 * @module
 */
import type { Fetch } from "../../src/ports.ts";
import { heldRequest } from "../support/held_request.ts";

/** Whatever answers a Request. */
export interface FetchTarget {
  fetch(request: Request): Promise<Response>;
}

/**
 * Makes a `fetch` that reaches `target`. As over a socket, an abort rejects the call at once, breaks the reply's body and
 * lets the server see it: its request's signal is aborted and its stream is cancelled.
 */
export function memoryFetch(target: FetchTarget): Fetch {
  return (url, init) => {
    const signal = init.signal ?? undefined;
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise<Response>((resolve, reject) => {
      const abort = () => reject(signal?.reason);
      signal?.addEventListener("abort", abort, { once: true });
      target.fetch(heldRequest(url, init)).then((response) => {
        signal?.removeEventListener("abort", abort);
        if (signal?.aborted) void response.body?.cancel(signal.reason);
        else resolve(signal === undefined ? response : breakable(response, signal));
      }, reject);
    });
  };
}

function breakable(response: Response, signal: AbortSignal): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let abort = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      abort = () => {
        controller.error(signal.reason);
        reader.cancel(signal.reason).catch(() => {});
      };
      signal.addEventListener("abort", abort, { once: true });
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (signal.aborted) return;
      if (!done) return controller.enqueue(value);
      signal.removeEventListener("abort", abort);
      controller.close();
    },
    cancel(reason) {
      signal.removeEventListener("abort", abort);
      return reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}
