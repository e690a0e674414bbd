/**
 * The one way out for requests to the server that the operator named: redirects by hand, errors by class.
 *
 * @module
 */
import { ConnectError, ConnectionClosedError, McpError, RedirectRefusedError } from "../protocol/errors.ts";
import type { Fetch } from "../ports.ts";
import { discard } from "./body.ts";
import { urlWithoutQuery } from "./redact.ts";
import { readUrl } from "./url.ts";

/**
 * Sends one request and follows only what keeps its meaning and its origin: 307 and 308 to the same origin, three at most. Where one
 * leads from https to http on the same host and port, https is asked.
 *
 * @param fetch The port that sends it.
 * @param url An address that the operator gave.
 * @param init As for `fetch`; `redirect` is set to `manual`.
 * @param redact Takes secrets out of what the server says.
 * @param hops How many redirects led here.
 * @throws {RedirectRefusedError} When the server redirects anywhere else, or a fourth time.
 * @throws {ConnectError} When no connection came about.
 * @throws {ConnectionClosedError} When the connection broke before the reply's head was there.
 */
export async function egressFetch(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  redact: (text: string) => string,
  hops = 0,
): Promise<Response> {
  const mostRedirects = 3;
  init.redirect = "manual";
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    throw networkError(error, url, init);
  }
  const { status } = response;
  // A browser hides what a redirect says: status 0.
  if (status && (status < 301 || status > 308 || status === 304)) return response;
  discard(response);
  const location = response.headers.get("location");
  const { origin, protocol } = new URL(url);
  // A server behind a proxy that ends TLS often names its own address without: it is the same place, asked as before.
  const target = location ? readUrl(location.replace(/^http:/i, protocol), url) : undefined;
  if (status < 307 || target?.origin !== origin || hops === mostRedirects) {
    throw new RedirectRefusedError(
      `Cannot follow ${status ? status + " to" : "a redirect of"} "${
        redact(urlWithoutQuery(location || url))
      }": expected ${status ? "307 or 308 to the same origin" : "the final URL"}`,
    );
  }
  return egressFetch(fetch, target.href, init, redact, hops + 1);
}

/** What a failed `fetch` means: not connected at all where the runtime names it so, else broken off. */
function networkError(cause: unknown, url: string, { signal }: RequestInit): unknown {
  if (cause instanceof McpError || signal?.aborted) return cause;
  const server = `"${urlWithoutQuery(url)}"`;
  // By what they have: under jest and its like they are of another realm.
  for (
    let error = cause as { cause?: unknown; code: string; syscall?: string } | undefined, left = 9;
    // Who reads has sent: a network that goes away meanwhile has the same codes. Causes may go in a circle.
    error && left-- && error.syscall !== "read";
    error = error.cause as typeof error
  ) {
    // Whatever it is, it is tested as a text.
    const { code } = error;
    const untrusted = /CERT|VERIFY/.test(code) && !/ALERT/.test(code);
    if (untrusted || /REFUSED|NOT[FA]|MFILE|_AGAIN|UNREACH|OpenS|CONNECT_T|TUNNEL/i.test(code)) {
      const check = untrusted ? "its certificate is not trusted" : "check the address, and that the server runs";
      return new ConnectError(`Cannot connect to ${server} (${code}): ${check}`, { cause, retryable: !untrusted });
    }
  }
  // A browser gives the same bare TypeError for a host that is down and for what it does not allow.
  const blocked = /^Mozilla/.test(globalThis.navigator?.userAgent);
  const hint = blocked ? ": check the address, and that the server allows CORS" : "";
  return new ConnectionClosedError(`The connection to ${server} broke${hint}`, { cause, retryable: true, blocked });
}
