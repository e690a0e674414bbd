/**
 * A handler of requests, and what is seen to around it wherever it is served.
 *
 * @module
 */

/** What answers requests: the endpoint of `createHandler`, the `fetch` of a Hono application, or any function like them. */
export interface RequestHandler {
  /** Answers one request. */
  (request: Request): Response | Promise<Response>;
  /** Ends all its streams: called when the host is closed. */
  close?(): void;
}

/** @throws {TypeError} When it is no function. */
export function checkHandler(handler: unknown): void {
  if (typeof handler === "function") return;
  throw new TypeError("Cannot serve this: expected a function from Request to Response, such as createHandler(server)");
}

/** A handler that always gives a reply which can be sent. */
export function answerBy(handler: RequestHandler): (request: Request) => Promise<Response> {
  return async (request) => {
    if (!namesHost(request)) return nameless();
    try {
      const response = await handler(request);
      if (canBeSent(response)) return response;
    } catch {
      // Nobody hears of it here.
    }
    return new Response(null, { status: 500 });
  };
}

/**
 * Whether a handler gave a reply, no `Response.error()` (which has status 0), and one that nobody has read: anything else ends the
 * process on Deno.
 */
function canBeSent(response: Response | undefined): boolean {
  return typeof response?.status === "number" && response.status > 0 && !response.bodyUsed;
}

/** Bun and Deno send none but their own: for one of a library's class Bun gives a page of Bun's, and Deno ends the process. */
export function ownReply(response: Response): Response {
  return response instanceof Response ? response : new Response(null, { status: 500 });
}

/** A name or an address, and a port (RFC 9112, section 3.2). */
const aHost = /^(\[[\da-f:.]+\]|[^\s/?#\\@:,<>[\]^|%]+)(:\d*)?$/i;

/**
 * What names no host (HTTP/1.0) could be meant for any: whoever guards names would have to guess. What names more than a host would
 * be taken for the path, or for a user: `localhost/admin?`.
 */
export function namesHost({ headers }: Request): boolean {
  return aHost.test(headers.get("host") ?? "");
}

/** The reply to what names no host. */
export function nameless(): Response {
  return new Response(null, { status: 400 });
}
