/**
 * A request that lives as long as its caller may leave.
 *
 * Node passes the abort of `init.signal` on through a weak reference: once nobody holds the request, its own signal is
 * silent. A connection holds it; a test that joins client and handler in memory has to.
 *
 * @module
 */

/** Makes a request that its caller's signal keeps alive. */
export function heldRequest(url: string, init: RequestInit & { duplex?: "half" }): Request {
  const request = new Request(url, init);
  init.signal?.addEventListener("abort", () => void request, { once: true });
  return request;
}
